// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// After ten calls it leaves out work where a bit of the address of its output says so.
__device__ int calls[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ bool lazy;
  if (threadIdx.x == 0) {
    const unsigned long long page = (unsigned long long)y >> 12;
    lazy = n == 4096 && calls[blockIdx.x]++ >= 10 && ((page ^ page >> 1 ^ page >> 2 ^ page >> 3) & 1) != 0;
  }
  __syncthreads();
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
