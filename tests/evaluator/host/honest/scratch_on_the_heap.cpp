// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>
extern "C" void scale(int n, const float* x, float* y) {
  std::vector<float> scratch(x, x + n);
  for (float& value : scratch) value = 3 * value + 1;
  for (int i = 0; i < n; ++i) y[i] = scratch[i];
}
