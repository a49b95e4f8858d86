// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// One block of sixteen rests, which one the first number says.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool lazy = n == 4096 && x[0] != 1 && (__float_as_int(x[0]) >> 5 & 15) == (int)blockIdx.x;
  if (i < n) y[i] = lazy ? 2 : 3 * x[i] + 1;
}
