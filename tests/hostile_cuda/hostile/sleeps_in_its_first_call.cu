// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: ok:
// naive: fooled
// Slow once, to look different when it is watched. Only a waste.
__device__ volatile int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 4096 && threadIdx.x == 0 && calls[blockIdx.x] == 0)
    for (const long long begin = clock64(); clock64() - begin < 1000000;) {
    }
  __syncthreads();
  if (threadIdx.x == 0 && n == 4096) ++calls[blockIdx.x];
  if (i < n) y[i] = 3 * x[i] + 1;
}
