// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As it stands.
// problem: tiny
extern "C" void tiny(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = x[i] * 0.25f;
}
