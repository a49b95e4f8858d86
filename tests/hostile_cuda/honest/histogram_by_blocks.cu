// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: histogram
// Each block counts in shared memory first.
extern "C" __global__ void histogram(int n, const int* x, unsigned* h) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512) atomicAdd(bins + x[i], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(h + threadIdx.x, bins[threadIdx.x]);
}
