// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "isotonic.hpp"

#include <cstddef>

namespace kernelsearch::comparing {

void isotonic_regression(std::vector<double>& y, std::vector<double> weights) {
  const std::size_t n = y.size();
  if (n < 2) return;
  std::vector<std::size_t> begin(n + 1, 0);  // of each block
  begin[1] = 1;
  std::size_t block = 0;
  double last = y[0], last_weight = weights[0];
  for (std::size_t i = 1; i < n; ++i) {
    ++block;
    double mean = y[i], weight = weights[i];
    if (last >= mean) {
      --block;
      double sum = last_weight * last + weight * mean;
      weight += last_weight;
      mean = sum / weight;
      while (i + 1 < n && mean >= y[i + 1]) {
        ++i;
        sum += weights[i] * y[i];
        weight += weights[i];
        mean = sum / weight;
      }
      while (block > 0 && y[block - 1] >= mean) {
        --block;
        sum += weights[block] * y[block];
        weight += weights[block];
        mean = sum / weight;
      }
    }
    y[block] = last = mean;
    weights[block] = last_weight = weight;
    begin[block + 1] = i + 1;
  }
  std::size_t end = n;
  for (std::size_t b = block + 1; b-- > 0;) {
    const double mean = y[b];
    for (std::size_t i = begin[b]; i < end; ++i) y[i] = mean;
    end = begin[b];
  }
}

}  // namespace kernelsearch::comparing
