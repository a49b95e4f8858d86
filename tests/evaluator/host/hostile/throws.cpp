// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: an exception that nothing caught
#include <stdexcept>
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  throw std::runtime_error("no");
}
