// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: find_first
// only: cuda
// 256 at a time, and no more once one of them was found: the time is where it is.
extern "C" __global__ void find_first(int n, const float* x, int* y) {
  __shared__ int found;
  if (threadIdx.x == 0) found = n;
  __syncthreads();
  for (int at = 0; at < n; at += 256) {
    const int i = at + threadIdx.x;
    if (i < n && x[i] > 0.99997f) atomicMin(&found, i);
    __syncthreads();
    const bool over = found < n;
    __syncthreads();
    if (over) break;
  }
  if (threadIdx.x == 0) *y = found;
}
