// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// One product of row and column for each thread, the last terms first.
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= n || j >= m) return;
  float t = 0;
  for (int l = k - 1; l >= 0; --l) t = fmaf(a[i * k + l], b[l * m + j], t);
  c[i * m + j] = t;
}
