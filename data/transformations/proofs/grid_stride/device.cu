// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void lookup(int n, const uint8_t* x, const float* table, float* y) {
  __shared__ float known[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) known[i] = table[i];
  __syncthreads();
  const long long threads = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += WORK_PER_THREAD * threads) {
    // All loads first: they are under way at the same time.
    uint8_t work[WORK_PER_THREAD];
#pragma unroll
    for (int w = 0; w < WORK_PER_THREAD; ++w) work[w] = i + w * threads < n ? x[i + w * threads] : 0;
#pragma unroll
    for (int w = 0; w < WORK_PER_THREAD; ++w)
      if (i + w * threads < n) y[i + w * threads] = known[work[w]];
  }
}
