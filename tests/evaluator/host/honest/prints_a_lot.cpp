// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <cstring>
extern "C" void scale(int n, const float* x, float* y) {
  static char text[1 << 16];
  std::memset(text, 'x', sizeof text);
  for (int i = 0; i < 16; ++i) std::fwrite(text, 1, sizeof text, stdout);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
