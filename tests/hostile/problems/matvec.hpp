// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = a x, n x n; takes one or two microseconds, as its sums wait for their last addition.
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}
