// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_observer.hpp"

namespace kernelsearch {

std::string to_string(const RunActivity& activity) {
  if (!activity.waiting.empty()) return activity.waiting;
  std::string text;
  const auto add = [&text](std::size_t count, const char* what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + std::string(what);
    if (count > 1) text += " " + std::to_string(count);
  };
  add(activity.asking, "waiting for a model");
  add(activity.compiling, "compiling");
  add(activity.measuring, "measuring");
  return text;
}

}  // namespace kernelsearch
