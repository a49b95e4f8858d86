// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each element through a std::function.
// problem: stencil
#include <functional>
extern "C" void stencil(int n, const float* x, float* y) {
  const std::function<float(int)> at = [=](int i) {
    return i == 0 || i == n - 1 ? x[i] : x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4;
  };
  for (int i = 0; i < n; ++i) y[i] = at(i);
}
