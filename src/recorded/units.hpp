// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelsearch::recorded {

/// How many of a unit of time are a second, in whatever spelling and case; nothing where it is no such unit.
[[nodiscard]] std::optional<double> in_a_second(std::string_view unit);

/// The same of a unit that was asked for; ConfigError where it is not one of time.
[[nodiscard]] double unit_of_time(const std::string& unit);

/// What a recording was made for, where not a time: which way is better, as far as its name or unit says.
struct OtherObjective {
  std::string words;  ///< e.g. `GFLOP/s, higher is better`
};

/// The objective of that name and unit, which may be empty; nothing where it is a time.
[[nodiscard]] std::optional<OtherObjective> other_objective(std::string_view name, std::string_view unit);

/// What is said of a recording for several objectives, of which one is read.
[[nodiscard]] std::string several_objectives(std::span<const std::string> names, std::string_view read);

}  // namespace kernelsearch::recorded
