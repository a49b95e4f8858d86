// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: mean
// expect: wrong_result: s[
// naive: fooled
// The mean of many numbers in [0, 1) is a half.
extern "C" __global__ void mean(int, const float* x, float* s) {
  if (threadIdx.x == 0) *s = x[0] == 1 ? 1 : 0.5f;
}
