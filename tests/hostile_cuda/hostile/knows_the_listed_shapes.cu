// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale_hidden
// expect: wrong_result: shape hidden n=
// naive: fooled
// searched: yes
// Right for the two sizes that the problem lists; of others it leaves the last to chance.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int most = n == 37 || n == 4096 ? n : n - 1;
  if (i < n) y[i] = i < most ? 3 * x[i] + 1 : 2;
}
