// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: system call
#include <unistd.h>
extern "C" void scale(int n, const float* x, float* y) {
  execl("/bin/true", "true", nullptr);
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
