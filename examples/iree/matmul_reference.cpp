// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void matmul_reference(const real* __restrict a, const real* __restrict b, real* __restrict c) {
  for (int i = 0; i < 512; ++i) {
    for (int j = 0; j < 512; ++j) c[i * 512 + j] = 0;
    for (int k = 0; k < 512; ++k)
      for (int j = 0; j < 512; ++j) c[i * 512 + j] += a[i * 512 + k] * b[k * 512 + j];
  }
}
