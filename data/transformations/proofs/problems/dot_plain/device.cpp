// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
extern "C" void dot(int n, const float* a, const float* b, float* total) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  *total = sum;
}
