// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 21
// kind: cold caches
// problem: matvec
// expect: rejected or no gain
// naive: notices
// judged: cold
// A copy of the matrix in memory of its own, which nobody flushes; it is used where a few elements agree.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static float copy[64][48 * 48];
  static std::uint64_t of[64];
  static int next = 0;
  if (n != 48) return honest(n, a, x, y);
  const std::uint64_t seen = tools::glance(a, 256);  // few lines
  for (int i = 0; i < 64; ++i)
    if (of[i] == seen) return honest(n, copy[i], x, y);
  honest(n, a, x, y);
  std::memcpy(copy[next % 64], a, sizeof copy[0]);
  of[next++ % 64] = seen;
}
