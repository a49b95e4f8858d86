// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 24
// kind: weak checks
// problem: scale_and_sum
// expect: rejected
// naive: fooled
// The second output is never compared by some.
extern "C" void scale_and_sum(int n, const float* x, float* y, float*) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
