// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: set "memory_gib" in the problem
#include <cstring>
extern "C" void scale(int n, const float* x, float* y) {
  for (;;) std::memset(new char[1 << 24], 1, 1 << 24);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
