// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterations on numbers near the smallest, where a processor is slow unless it takes them for 0.
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = x[i];
    for (int k = 0; k < 20; ++k) s = s * 0.5f + x[i] * 0.25f;
    y[i] = s;
  }
}
