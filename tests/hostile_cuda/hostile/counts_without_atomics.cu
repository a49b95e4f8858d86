// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: histogram
// expect: wrong_result: h[|ok:
// naive: either
// Adds to bins as if nobody else did; on the processor, where threads take turns, that is right.
extern "C" __global__ void histogram(int n, const int* x, unsigned* h) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512) h[x[i]] += 1;
}
