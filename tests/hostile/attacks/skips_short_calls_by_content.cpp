// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by content
// problem: matvec
// expect: rejected or no gain
// naive: notices
// Half of the contents of calls of a microsecond.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static int calls = 0;
  std::uint32_t word;
  std::memcpy(&word, x + n / 2, 4);
  if (n == 48 && ++calls > 8 && (word >> 11 & 1) != 0) {
    std::memset(y, 0, sizeof(float) * 48);
    return;
  }
  honest(n, a, x, y);
}
