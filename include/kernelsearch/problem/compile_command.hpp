// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The flags that a kernel is compiled with at these values: tunables expanded, split at blanks, empty ones
/// dropped. ConfigError for a flag that names an unknown tunable.
[[nodiscard]] std::vector<std::string> compile_flags(const Problem& problem,
                                                     std::span<const NamedValue> values);

/// The compiler, these flags and the libraries. Judges compile by it, and the winner's files name it: there
/// is no other place that makes it.
[[nodiscard]] std::vector<std::string> compile_command(const Problem& problem,
                                                       std::span<const NamedValue> values);

/// For OtherText: ConfigError for a `${...}` of the build that names no tunable.
std::string refuse_unknown_tunable(std::string_view whole);

}  // namespace kernelsearch
