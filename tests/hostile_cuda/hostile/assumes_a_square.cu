// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// expect: wrong_result:
// naive: fooled
// Takes all sizes to be n.
extern "C" __global__ void product(int n, int, int, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= n || j >= n) return;
  float t = 0;
  for (int l = 0; l < n; ++l) t += a[i * n + l] * b[l * n + j];
  c[i * n + j] = t;
}
