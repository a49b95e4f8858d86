// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

extern "C" void gate_rows(int n, int m, const float* x, const float* gate, float* y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) y[i * m + j] = x[i * m + j] / (1 + std::exp(-gate[i]));
}
