// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: cheated|wrong_result: a timed call
#include <map>
#include <utility>
#include <vector>
extern "C" void scale(int n, const float* x, float* y) {
  static std::map<std::pair<const float*, int>, std::vector<float>> seen;
  auto& saved = seen[{x, n}];
  if (saved.empty()) {
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
    saved.assign(y, y + n);
  }
  for (int i = 0; i < n; ++i) y[i] = saved[i];
}
