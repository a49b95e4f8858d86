// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product of matrices whose reference takes so long that only a few calls can be compared with it.
static void rows(int n, const float* a, const float* b, float* c, int to) {
  for (int i = 0; i < n * n; ++i) c[i] = 0;
  for (int i = 0; i < to; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* a, const float* b, float* c) {
  rows(n, a, b, c, n);
}
