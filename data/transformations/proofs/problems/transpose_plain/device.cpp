// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void transpose(int n, int m, const float* a, float* b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) b[j * n + i] = a[i * m + j];
}
