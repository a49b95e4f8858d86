// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// A kernel that is launched otherwise than its problem says has its launch in its text, as the line
/// `//@launch JSON` of its macros region. So whatever keeps, compares or exports the text of a kernel has its
/// launch too. The JSON is that of a problem's "launch"; the names in its expressions are shape variables and
/// the kernel's own tunables.
inline constexpr std::string_view launch_mark = "//@launch ";

/// The line, with its newline, for JSON that is one line.
[[nodiscard]] std::string launch_line(std::string_view json);

/// The JSON of that line; empty where there is none. Among several the last one counts.
[[nodiscard]] std::string_view own_launch(std::string_view macros) noexcept;

/// The steps that launch the kernel: its own, or else the problem's; or what is wrong with its own.
[[nodiscard]] Result<std::vector<LaunchStep>, std::string> try_launch_of(const Problem& problem,
                                                                         const Kernel& kernel);

/// The same; ConfigError for a line that does not read.
[[nodiscard]] std::vector<LaunchStep> launch_of(const Problem& problem, const Kernel& kernel);

/// Whether the steps make sense for the candidate on all shapes that `valid` accepts: whole extents, no more
/// threads in a block than any device has, some kernel launched. What a device has less of, it says itself.
[[nodiscard]] Result<void, std::string> check_launch(const Problem& problem, const Candidate& candidate,
                                                     const std::vector<LaunchStep>& steps);

}  // namespace kernelsearch
