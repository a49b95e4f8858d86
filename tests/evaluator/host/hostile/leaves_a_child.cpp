// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: system call
// Straight to the system call, past the library.
#include <sys/syscall.h>
#include <unistd.h>
extern "C" void scale(int n, const float* x, float* y) {
  if (syscall(SYS_clone, 17, 0, 0, 0, 0) == 0)
    for (volatile int i = 0;; i = i + 1) {
    }
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
