// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place through a span and the standard algorithms, backwards.
// problem: inplace
#include <algorithm>
#include <span>
extern "C" void inplace(int n, float* x) {
  const std::span<float> all(x, static_cast<std::size_t>(n));
  std::transform(all.rbegin(), all.rend(), all.rbegin(), [](float v) { return 3 * v + 1; });
}
