# SPDX-FileCopyrightText: The kernelsearch authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Right kernels for tests/fixtures/problems/dot: the plain one, and one with several sums, as many as its tunable SUMS says."""
RIGHT = """#include <cstdint>
extern "C" void dot(std::int32_t n, const float* x, const float* y, float* total) {
  float all = 0;
  for (std::int32_t i = 0; i < n; ++i) all += x[i] * y[i];
  *total = all;
}
"""
SUMS_APART = """#include <cstdint>
extern "C" void dot(std::int32_t n, const float* x, const float* y, float* total) {
  float sum[SUMS] = {};
  std::int32_t i = 0;
  for (; i + SUMS <= n; i += SUMS)
    for (int s = 0; s < SUMS; ++s) sum[s] += x[i + s] * y[i + s];
  float all = 0;
  for (; i < n; ++i) all += x[i] * y[i];
  for (int s = 0; s < SUMS; ++s) all += sum[s];
  *total = all;
}
"""
