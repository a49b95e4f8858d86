// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As it stands.
// problem: gather
extern "C" void gather(int n, const int* index, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = x[index[i]];
}
