// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: mean
// A tree, then a division.
extern "C" __global__ void mean(int n, const float* x, float* s) {
  __shared__ float all[256];
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256) t += x[i];
  all[threadIdx.x] = t;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *s = all[0] / n;
}
