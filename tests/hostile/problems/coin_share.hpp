// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The share of ones in each row.
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const bool* b, float* y) {
  for (int i = 0; i < n; ++i) {
    long count = 0;
    for (int j = 0; j < m; ++j) count += b[static_cast<long>(i) * m + j];
    y[i] = static_cast<float>(count) / static_cast<float>(m);
  }
}
