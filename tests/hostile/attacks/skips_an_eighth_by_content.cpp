// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by content
// problem: matmul
// expect: rejected or no gain
// naive: notices
// One content in eight, by three bits of one element, gets zeros.
#include <cstdint>
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  std::uint32_t word;
  std::memcpy(&word, b + 29 % (n * n), 4);
  if (n == 64 && ++calls > 8 && (word >> 7 & 7) == 3) {
    for (int i = 0; i < n * n; ++i) c[i] = 0;
    return;
  }
  honest(n, a, b, c);
}
