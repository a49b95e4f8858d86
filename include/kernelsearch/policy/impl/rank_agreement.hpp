// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kernelsearch::detail {

/// Ranks from 0, ties by their mean.
[[nodiscard]] inline std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] <= values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + end - 1);
    i = end;
  }
  return rank;
}

/// Spearman's rank correlation; 0 for fewer than 2 pairs or where one side is constant.
[[nodiscard]] inline double rank_agreement(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return 0;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0.0;
}

}  // namespace kernelsearch::detail
