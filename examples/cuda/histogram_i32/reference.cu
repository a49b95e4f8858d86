// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts by one block, 32 histograms side by side.

extern "C" __global__ void histogram_reference(int32_t n, const int32_t* values, int32_t* counts) {
  __shared__ int copies[256 * 32];
  for (int i = static_cast<int>(threadIdx.x); i < 256 * 32; i += 1024) copies[i] = 0;
  __syncthreads();
#pragma unroll 8
  for (int i = static_cast<int>(threadIdx.x); i < n; i += 1024)
    atomicAdd(&copies[values[i] * 32 + threadIdx.x % 32], 1);
  __syncthreads();
  if (threadIdx.x < 256) {
    int total = 0;
    for (int c = 0; c < 32; ++c) total += copies[threadIdx.x * 32 + (c + threadIdx.x) % 32];
    counts[threadIdx.x] = total;
  }
}
