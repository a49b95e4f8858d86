// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In long double with 64 bits whatever the control word was, which is set back.
// problem: total
// needs: sse2
extern "C" void total(int n, const float* x, float* s) {
  unsigned short before;
  asm volatile("fnstcw %0" : "=m"(before));
  const unsigned short whole = before | 0x0300;
  asm volatile("fldcw %0" : : "m"(whole));
  long double t = 0;
  for (int i = 0; i < n; ++i) t += x[i];
  *s = static_cast<float>(t);
  asm volatile("fldcw %0" : : "m"(before));
}
