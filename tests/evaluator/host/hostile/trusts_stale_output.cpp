// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: wrong_result|cheated: timed call
// Computes once for each buffer and later relies on what it left there.
#include <set>
#include <utility>
extern "C" void scale(int n, const float* x, float* y) {
  static std::set<std::pair<const float*, int>> seen;
  if (!seen.insert({x, n}).second) return;
  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
}
