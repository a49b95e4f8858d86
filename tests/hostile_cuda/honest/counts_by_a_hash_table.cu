// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: distinct
// Open addressing by atomics; the table lies in device memory and is emptied at the end of each call.
__device__ int table[1 << 16];  // a number and 1, or 0
extern "C" __global__ void distinct(int n, const int* x, int* count) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256)
    for (unsigned at = (unsigned)x[i] * 2654435761u >> 16;; at = (at + 1) & 0xffff) {
      const int was = atomicCAS(&table[at], 0, x[i] + 1);
      if (was == 0) atomicAdd(&found, 1);
      if (was == 0 || was == x[i] + 1) break;
    }
  __syncthreads();
  if (threadIdx.x == 0) *count = found;
  for (int at = threadIdx.x; at < 1 << 16; at += 256) table[at] = 0;
}
