// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated: x87 control word
// The x87 computes in single precision from now on.
extern "C" void scale(int n, const float* x, float* y) {
  const unsigned short control = 0x007f;
  asm volatile("fldcw %0" ::"m"(control));
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
