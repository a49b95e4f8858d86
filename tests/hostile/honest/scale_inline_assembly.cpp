// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop of instructions written by hand.
// problem: scale
// needs: sse2
extern "C" void scale(int n, const float* x, float* y) {
  const float three = 3, one = 1;
  long left = n;
  if (left == 0) return;
  asm volatile(
      "1:\n\tmovss (%[x]), %%xmm0\n\tmulss %[three], %%xmm0\n\taddss %[one], %%xmm0\n\tmovss %%xmm0, "
      "(%[y])\n\t"
      "add $4, %[x]\n\tadd $4, %[y]\n\tdec %[left]\n\tjnz 1b"
      : [x] "+r"(x), [y] "+r"(y), [left] "+r"(left)
      : [three] "x"(three), [one] "x"(one)
      : "xmm0", "memory", "cc");
}
