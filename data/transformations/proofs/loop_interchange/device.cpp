// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) c[i * m + j] = 0;
    // The innermost loop runs along rows of B and C.
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < m; ++j) c[i * m + j] += a[i * k + l] * b[l * m + j];
  }
}
