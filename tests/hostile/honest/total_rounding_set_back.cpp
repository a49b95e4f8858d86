// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums up with rounding down and up, and sets the mode back.
// problem: total
#include <cfenv>
[[gnu::noipa]] static float sum(int n, const float* x) {
  float t = 0;
  for (int i = 0; i < n; ++i) t += x[i];
  return t;
}
extern "C" void total(int n, const float* x, float* s) {
  const int before = std::fegetround();
  std::fesetround(FE_DOWNWARD);
  const float low = sum(n, x);
  std::fesetround(FE_UPWARD);
  const float high = sum(n, x);
  std::fesetround(before);
  *s = low + (high - low) / 2;
}
