// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = 3 x + 1.
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
