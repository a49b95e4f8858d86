// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 15
// kind: degenerate tasks
// problem: mean_of_softmax
// expect: degenerate problem
// finding: another call's result would pass
// naive: fooled
// The mean of a softmax is one over its length, whatever the inputs are, except where they are not finite.
extern "C" void mean_of_softmax(int n, int m, const float*, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 1.0f / static_cast<float>(m);
}
