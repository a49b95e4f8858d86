// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/compile_command.hpp"

#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/tunable_text.hpp"

namespace kernelsearch {

std::string refuse_unknown_tunable(std::string_view whole) {
  detail::raise<ConfigError>("the build names an unknown tunable", std::string(whole),
                             "use ${NAME} of a tunable");
}

std::vector<std::string> compile_flags(const Problem& problem, std::span<const NamedValue> values) {
  return expand_flags(problem.build.flags, values, refuse_unknown_tunable);
}

std::vector<std::string> compile_command(const Problem& problem, std::span<const NamedValue> values) {
  std::vector<std::string> command =
      expand_flags({&problem.build.compiler, 1}, values, refuse_unknown_tunable);
  if (command.size() != 1)
    detail::raise<ConfigError>("the build's compiler is not one program", problem.build.compiler,
                               "put its options into flags");
  for (std::string& flag : compile_flags(problem, values)) command.push_back(std::move(flag));
  for (const std::string& library : problem.build.libraries) command.push_back("-l" + library);
  return command;
}

}  // namespace kernelsearch
