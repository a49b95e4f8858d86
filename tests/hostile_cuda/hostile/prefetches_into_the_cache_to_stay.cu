// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: ok:
// naive: fooled
// only: cuda
// Has the second-level cache keep what the next call may be given: neighbours of its own arrays. Lines that persist
// are made ordinary before every batch.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(x + i));
  if (i < n) y[i] = 3 * x[i] + 1;
}
