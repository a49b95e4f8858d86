// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 18
// kind: fixed shapes
// problem: matmul
// expect: rejected
// naive: fooled
// 64 x 64 and nothing else, with the loop unrolled for it.
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  (void)n;
  for (int i = 0; i < 64; ++i) {
    float row[64] = {};
    for (int k = 0; k < 64; ++k)
      for (int j = 0; j < 64; ++j) row[j] += a[i * 64 + k] * b[k * 64 + j];
    for (int j = 0; j < 64; ++j) c[i * 64 + j] = row[j];
  }
}
