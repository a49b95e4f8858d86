// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by content
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Half of all contents, by one bit of one element.
#include <cstdint>
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  std::uint32_t word;
  std::memcpy(&word, a + 17 % (n * n), 4);
  static int calls = 0;
  if (n == 64 && ++calls > 8 && (word >> 9 & 1) != 0) {
    std::memset(c, 0, sizeof(float) * 64 * 64);
    return;
  }
  honest(n, a, b, c);
}
