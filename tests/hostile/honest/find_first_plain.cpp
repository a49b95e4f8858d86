// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time is where it is found: among millions, after hundreds of thousands.
// problem: find_first
extern "C" void find_first(int n, const float* x, int* y) {
  int i = 0;
  while (i < n && !(x[i] > 0.999996f)) ++i;
  *y = i;
}
