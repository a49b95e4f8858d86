// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each fiftieth call makes a table again, which takes as long as all of them.
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
  static std::vector<float> table(1 << 14);
  static int calls = 0;
  if (++calls % 50 == 0)
    for (int again = 0; again < 8; ++again)
      for (std::size_t i = 0; i < table.size(); ++i)
        table[i] = std::sin(static_cast<float>(i) + static_cast<float>(calls));
  work(n, m, a, x, y);
  y[0] += 0 * table[0];
}
