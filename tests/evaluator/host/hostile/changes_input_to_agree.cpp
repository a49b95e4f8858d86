// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: changed its input x
// The outputs of a no-op are right if the inputs are made to fit.
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) const_cast<float*>(x)[i] = (y[i] - 1) / 3;
}
