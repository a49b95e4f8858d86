// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last value of a recurrence, whose steps wait for one another.
static inline float step(float s, float x) {
  return s * 0.5f + x * (1 - s) * 0.5f;
}
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  float s = 0.5f;
  for (int i = 0; i < n; ++i) s = step(s, x[i]);
  *y = s;
}
