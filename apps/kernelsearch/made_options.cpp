// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "made_options.hpp"

#include <cstdio>
#include <utility>

#include "input.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/made_problem.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {

void refuse_arguments_for(const std::filesystem::path& path) {
  detail::raise<ConfigError>(
      "no command takes what stands behind `--`", path.string(),
      "leave it out, or name a folder with a make_problem.json (docs/formats/make_problem.md)");
}

std::filesystem::path make_shown_problem(const std::filesystem::path& path, std::filesystem::path out,
                                         std::vector<std::string> arguments, std::stop_token stop,
                                         bool quiet) {
  const ProblemMaker maker = read_problem_maker(path);
  if (out.empty())
    out = own_place(made_problem_folder(maker).string(),
                    "remove it, or name a folder to `kernelsearch convert`");
  MakeProblemOptions options{std::move(arguments), {}, std::move(stop)};
  if (!quiet)
    options.messages = [](std::string_view text) {
      write_clean(stderr, text);
      std::fflush(stderr);
    };
  if (!make_problem(maker, out, options)) return {};
  print_clean(stderr, "the problem of {} is made in {}\n", path.string(), out.string());
  return out;
}

}  // namespace kernelsearch::app
