// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As it stands.
// problem: clamp
extern "C" void clamp(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = x[i] >= 1 ? 2.0f : x[i] < -0.5f ? -0.5f : x[i];
}
