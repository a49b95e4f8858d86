// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: sorted
// Neighbours are swapped until all are in order: at once where they are, in n rounds where they are not.
extern "C" __global__ void sorted(int n, const int* x, int* y) {
  __shared__ int swapped;
  for (int i = threadIdx.x; i < n; i += 128) y[i] = x[i];
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) swapped = 0;
    for (int odd = 0; odd < 2; ++odd) {
      __syncthreads();
      for (int i = 2 * threadIdx.x + odd; i + 1 < n; i += 256)
        if (y[i] > y[i + 1]) {
          const int other = y[i];
          y[i] = y[i + 1];
          y[i + 1] = other;
          swapped = 1;
        }
    }
    __syncthreads();
    if (swapped == 0) break;
  }
}
