// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void transpose_plain_reference(int n, int m, const real* a, real* b) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) b[j * n + i] = a[i * m + j];
}
