// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prefetches what it will need 16 elements later, also beyond the end of the array.
// problem: gather
extern "C" void gather(int n, const int* index, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    __builtin_prefetch(index + i + 64);
    if (i + 16 < n) __builtin_prefetch(x + index[i + 16]);
    y[i] = x[index[i]];
  }
}
