// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers in ascending order.
#include <algorithm>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, const float* x, float* y) {
  std::copy(x, x + n, y);
  std::sort(y, y + n);
}
