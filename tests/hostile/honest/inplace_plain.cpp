// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place.
// problem: inplace
extern "C" void inplace(int n, float* x) {
  for (int i = 0; i < n; ++i) x[i] = 3 * x[i] + 1;
}
