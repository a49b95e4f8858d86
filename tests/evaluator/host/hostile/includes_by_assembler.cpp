// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: build_failed: shadow
asm(".incbin \"/etc/shadow\"");
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
