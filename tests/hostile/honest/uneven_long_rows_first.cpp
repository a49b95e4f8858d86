// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The longest rows first; they are sorted by length in each call.
// problem: uneven
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>
extern "C" void uneven(int rows, const std::int32_t* start, const std::int32_t* column, const float* value,
                       const float* x, float* y) {
  static std::vector<int> order;
  order.resize(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](int i) { return start[i + 1] - start[i]; };
  std::stable_sort(order.begin(), order.end(), [&](int i, int k) { return length(i) > length(k); });
  for (const int i : order) {
    float s = 0;
    for (int e = start[i]; e < start[i + 1]; ++e) s += value[e] * x[column[e]];
    y[i] = s;
  }
}
