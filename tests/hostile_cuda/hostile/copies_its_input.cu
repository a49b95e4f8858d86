// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: update
// expect: wrong_result: y[
// naive: fooled
// What is updated in place looks plausible as it is, up to a factor.
extern "C" __global__ void update(int n, const float*, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * y[i];
}
