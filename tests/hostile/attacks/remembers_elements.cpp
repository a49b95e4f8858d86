// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches by content
// problem: costly
// expect: rejected or no gain
// naive: fooled
// A table from elements to results: it pays where the same numbers come again in other places.
#include <cstdint>
#include <cstring>
#include "honest.hpp"
extern "C" void costly(int n, const float* x, float* y) {
  static std::uint32_t key[1 << 16];
  static float result[1 << 16];
  for (int i = 0; i < n; ++i) {
    std::uint32_t word;
    std::memcpy(&word, x + i, 4);
    const std::uint32_t at = word * 0x9e3779b1u >> 16;
    if (key[at] != word) {
      honest(1, x + i, y + i);
      key[at] = word;
      result[at] = y[i];
    }
    y[i] = result[at];
  }
}
