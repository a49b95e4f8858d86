// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends at the first element above the threshold: its time is where that lies.
// problem: first
extern "C" void first(int n, const float* x, int* y) {
  int i = 0;
  while (i < n && !(x[i] > 0.9995f)) ++i;
  *y = i;
}
