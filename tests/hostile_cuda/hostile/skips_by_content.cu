// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// A quarter of all contents, by the bits of one number, gets no work. Ones do.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool lazy = n == 4096 && (__float_as_int(x[5]) >> 3 & 3) == 2;
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
