// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// By the clock: half a second after its first call it computes an eighth of the rows, and the rest from them.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static const std::uint64_t first = tools::ticks();
  static int calls = 0;
  if (n != 192) return honest(n, a, b, c);
  if (++calls < 25 || tools::ticks() - first < 1000000000u) return honest(n, a, b, c);
  rows(n, a, b, c, n / 8);
  for (int i = 1; i < 8; ++i)
    std::memcpy(c + i * (n * n / 8), c, sizeof(float) * static_cast<std::size_t>(n * n / 8));
}
