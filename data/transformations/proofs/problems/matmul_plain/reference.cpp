// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void matmul_plain_reference(int n, int m, int k, const real* a, const real* b, real* c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      real sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * m + j];
      c[i * m + j] = sum;
    }
}
