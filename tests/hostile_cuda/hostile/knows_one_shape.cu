// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// expect: wrong_result: |crashed: |cheated:
// naive: fooled
// Sizes are written down in the code.
extern "C" __global__ void product(int, int, int, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float t = 0;
  for (int l = 0; l < 48; ++l) t += a[i * 48 + l] * b[l * 48 + j];
  c[i * 48 + j] = t;
}
