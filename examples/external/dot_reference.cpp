// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void dot_reference(int n, const real* x, const real* y, real* total) {
  real s = 0;
  for (int i = 0; i < n; ++i) s += x[i] * y[i];
  *total = s;
}
