// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/process/sandbox.hpp"

/// The option `--sandbox` of all commands that build or run candidates.
namespace kernelsearch::app {

inline constexpr const char* sandbox_help =
    "auto: the strongest that works here; bubblewrap; landlock; or none, for kernels you trust";

/// The option `--readable` of commands that build candidates.
inline constexpr const char* readable_help =
    "Folder outside of the system's that build commands, and on the host compilers and kernels, may read in "
    "the sandbox, e.g. of a toolchain; may be given several times";

[[nodiscard]] inline std::vector<std::string> sandbox_names() {
  std::vector<std::string> names;
  for (const Sandbox one : {Sandbox::automatic, Sandbox::bubblewrap, Sandbox::landlock, Sandbox::none})
    names.emplace_back(to_string(one));
  return names;
}

}  // namespace kernelsearch::app
