// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In long double, three times over: very slow.
// problem: rows
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  for (int again = 0; again < 3; ++again)
    for (int i = 0; i < n; ++i) {
      long double s = 0;
      for (int j = 0; j < m; ++j) s += static_cast<long double>(a[i * m + j]) * x[j];
      y[i] = static_cast<float>(s);
    }
}
