// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: bytes
// Bytes and truth values.
extern "C" __global__ void blend(int n, const unsigned char* x, const bool* keep, float factor,
                                 unsigned char* y, bool* any) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = keep[i] ? x[i] : (unsigned char)(factor * x[i]);
  any[i] = keep[i] | (x[i] > 100);
}
