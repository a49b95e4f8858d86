// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kernelsearch::comparing {

/// Linear interpolation between the values around `p` in [0, 1] (Hyndman and Fan's type 7). Infinities do not
/// become NaN.
[[nodiscard]] inline double sorted_quantile(const std::vector<double>& sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double part = at - std::floor(at);
  if (part == 0.0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

[[nodiscard]] inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, 0.5);
}

}  // namespace kernelsearch::comparing
