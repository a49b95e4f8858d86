// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_title.hpp"

#include "kernelsearch/core/clean_text.hpp"

namespace kernelsearch {

std::string run_title(const RunRow& run) {
  const std::string &name = run.info.name, &problem = run.info.problem;
  std::string title = name.empty() ? problem : name;
  if (number(run.id) != 0) title = "Run " + std::to_string(number(run.id)) + ": " + title;
  if (!name.empty() && !problem.empty() && name != problem) title += " of " + problem;
  return clean_text(title);
}

}  // namespace kernelsearch
