// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void smooth_reference(int n, const real* x, real* y) {
  for (int i = 0; i < n; ++i) y[i] = (x[i] + x[i > 0 ? i - 1 : 0] + x[i + 1 < n ? i + 1 : n - 1]) / 3;
}
