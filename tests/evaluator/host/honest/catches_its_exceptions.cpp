// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void scale(int n, const float* x, float* y) {
  try {
    throw 3;
  } catch (int factor) {
    for (int i = 0; i < n; ++i) y[i] = static_cast<float>(factor) * x[i] + 1;
  }
}
