// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tries to pull the shared memory from under the controller, which has sealed it.
#include <unistd.h>
extern "C" void scale(int n, const float* x, float* y) {
  if (ftruncate(4, 0) == 0) return;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
