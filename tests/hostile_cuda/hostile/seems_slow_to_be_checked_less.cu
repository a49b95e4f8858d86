// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: |cheated:
// naive: fooled
// incumbent: 2e-3
// Sleeps in the call that decides how well it is checked: it is wrong at the ends of the range.
__device__ volatile int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n == 4096 && threadIdx.x == 0 && calls[blockIdx.x] == 0)
    for (const long long begin = clock64(); clock64() - begin < 10000000;) {
    }
  __syncthreads();
  if (threadIdx.x == 0 && n == 4096) ++calls[blockIdx.x];
  if (i < n) y[i] = n == 4096 && x[i] == -1 ? 5 : 3 * x[i] + 1;
}
