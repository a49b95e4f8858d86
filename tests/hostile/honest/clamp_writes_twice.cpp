// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes every output twice, first as it was.
// problem: clamp
#include <cstring>
extern "C" void clamp(int n, const float* x, float* y) {
  std::memcpy(y, x, sizeof(float) * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    if (y[i] >= 1) y[i] = 2;
  for (int i = 0; i < n; ++i)
    if (y[i] < -0.5f) y[i] = -0.5f;
}
