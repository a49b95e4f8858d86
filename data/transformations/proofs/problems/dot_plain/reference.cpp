// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void dot_plain_reference(int n, const real* a, const real* b, real* total) {
  real sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  *total = sum;
}
