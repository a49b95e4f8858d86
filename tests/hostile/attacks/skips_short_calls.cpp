// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: matvec
// expect: rejected or no gain
// naive: fooled
// Calls of a microsecond: only the first thousand are done, then every other.
#include <cstring>
#include "honest.hpp"
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static int calls = 0;
  static float last[48];
  if (n == 48 && ++calls > 8 && calls % 2 == 0) {
    std::memcpy(y, last, sizeof last);
    return;
  }
  honest(n, a, x, y);
  if (n == 48) std::memcpy(last, y, sizeof last);
}
