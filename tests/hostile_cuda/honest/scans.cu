// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scan
// Doubles the distance, with what came before the block carried along.
extern "C" __global__ void scan(int n, const int* x, int* y) {
  __shared__ int all[256], before;
  if (threadIdx.x == 0) before = 0;
  for (int first = 0; first < n; first += 256) {
    const int i = first + threadIdx.x;
    all[threadIdx.x] = i < n ? x[i] : 0;
    for (int distance = 1; distance < 256; distance *= 2) {
      __syncthreads();
      const int add = threadIdx.x >= distance ? all[threadIdx.x - distance] : 0;
      __syncthreads();
      all[threadIdx.x] += add;
    }
    __syncthreads();
    if (i < n) y[i] = before + all[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) before += all[255];
  }
}
