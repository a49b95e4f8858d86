// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// c = a b, n x n, beside a reference that takes many times as long.
[[gnu::noipa, gnu::aligned(64)]] static void rows(int n, const float* a, const float* b, float* c, int to) {
  for (int i = 0; i < to; ++i) {
    float* row = c + i * n;
    for (int j = 0; j < n; ++j) row[j] = 0;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) row[j] += a[i * n + k] * b[k * n + j];
  }
}
static void honest(int n, const float* a, const float* b, float* c) {
  rows(n, a, b, c, n);
}
