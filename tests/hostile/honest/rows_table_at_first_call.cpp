// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four megabytes of sines, made at the first call and kept, of which one is used.
// problem: rows
#include <cmath>
#include <vector>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  static const std::vector<float>& table = []() -> const std::vector<float>& {
    auto& made = *new std::vector<float>(1 << 20);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i));
    return made;
  }();
  work(n, m, a, x, y);
  y[0] += table[0];
}
