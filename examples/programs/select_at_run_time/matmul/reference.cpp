// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

void matmul_reference(long n, const real* a, const real* b, real* c) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      real sum = 0;
      for (long k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
