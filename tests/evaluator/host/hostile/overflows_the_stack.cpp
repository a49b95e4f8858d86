// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: crashed: SIGSEGV
static int deep(volatile int* from) {
  volatile int here[1024];
  here[0] = *from + 1;
  return deep(here) + here[0];
}
extern "C" void scale(int n, const float* x, float* y) {
  volatile int start = n;
  y[0] = static_cast<float>(deep(&start)) + x[0];
}
