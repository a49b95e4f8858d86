// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recurrence: every step waits for the last, so that several at once cost little more than one.
static inline float step(float last, float x) {
  return ((last * 0.5f + x) * 0.5f + x) * 0.5f + x;
}
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  float last = 0;
  for (int i = 0; i < n; ++i) y[i] = last = step(last, x[i]);
}
