// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/measurement.hpp"

namespace kernelsearch {

/// A time in seconds to `digits` significant digits in a unit that suits: `1.234 ms`, `56.0 us`, `2.00 s`.
[[nodiscard]] std::string format_seconds(double seconds, int digits = 4);

/// How long something took or will take, for people: `0.4 s`, `12 s`, `3 min 05 s`, `2 h 07 min`.
[[nodiscard]] std::string format_duration(double seconds);

/// A number to `digits` significant digits with a decimal prefix: `1.23 k`, `4.56 G`.
[[nodiscard]] std::string format_engineering(double value, int digits = 3);

/// `5.43x (5.40 to 5.47)`.
[[nodiscard]] std::string format_speedup(const Speedup& speedup);

/// What speedups of an evaluator are over: the reference on hosts, the default configuration on GPUs.
[[nodiscard]] std::string_view baseline_name(std::string_view evaluator) noexcept;

/// A text of `width` characters, `filled` in [0, 1] of it: `[####....]`.
[[nodiscard]] std::string format_bar(double filled, int width);

/// Rows under a header in columns as wide as their widest cell (in characters, not bytes). Cells that start
/// with a digit, a sign or a point are aligned to the right.
[[nodiscard]] std::string format_table(const std::vector<std::string>& header,
                                       const std::vector<std::vector<std::string>>& rows);

}  // namespace kernelsearch
