// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by clock
// problem: matmul
// expect: rejected or no gain
// naive: fooled
// Calls that follow one another closely are timed ones, and get nothing.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::uint64_t last = 0;
  const std::uint64_t since = tools::ticks() - last;
  if (n == 64 && since < 20000)
    std::memset(c, 0, sizeof(float) * 64 * 64);
  else
    honest(n, a, b, c);
  last = tools::ticks();
}
