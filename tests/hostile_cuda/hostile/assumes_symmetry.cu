// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// expect: wrong_result: c[
// naive: fooled
// Reads b by rows where it is square, as if it were symmetric.
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= n || j >= m) return;
  float t = 0;
  for (int l = 0; l < k; ++l) t += a[i * k + l] * (m == k ? b[j * k + l] : b[l * m + j]);
  c[i * m + j] = t;
}
