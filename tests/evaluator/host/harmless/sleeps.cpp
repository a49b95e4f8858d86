// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sleep takes no processor time, so it is refused.
#include <unistd.h>
extern "C" void scale(int n, const float* x, float* y) {
  usleep(100000000);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
