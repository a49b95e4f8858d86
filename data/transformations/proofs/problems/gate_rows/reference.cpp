// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

void gate_rows_reference(int n, int m, const real* x, const real* gate, real* y) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) y[i * m + j] = x[i * m + j] / (1 + std::exp(-gate[i]));
}
