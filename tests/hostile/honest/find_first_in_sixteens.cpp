// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen at a time.
// problem: find_first
extern "C" void find_first(int n, const float* x, int* y) {
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    bool any = false;
    for (int k = 0; k < 16; ++k) any |= x[i + k] > 0.999996f;
    if (any) break;
  }
  while (i < n && !(x[i] > 0.999996f)) ++i;
  *y = i;
}
