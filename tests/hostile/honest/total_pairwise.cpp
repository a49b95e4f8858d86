// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recursion down to single elements.
// problem: total
static float pairwise(const float* x, int n) {
  return n == 0 ? 0 : n == 1 ? *x : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}
extern "C" void total(int n, const float* x, float* s) {
  *s = pairwise(x, n);
}
