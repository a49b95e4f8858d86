// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: histogram
// Atomic additions to memory.
extern "C" __global__ void histogram(int n, const int* x, unsigned* h) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512) atomicAdd(h + x[i], 1u);
}
