// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// judged: pairs
// Right in its trial. In pairs its rival works between any two of its calls: once a dozen calls in a row each
// came after a break as long as a call, it computes an eighth of the rows.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static std::uint64_t ended = 0, takes = ~std::uint64_t{0};
  static int breaks = 0;
  const std::uint64_t begin = tools::ticks();
  if (n != 192) {
    honest(n, a, b, c);
    return;
  }
  breaks = begin - ended > takes / 4 * 3 ? breaks + 1 : 0;
  if (breaks > 12) {
    rows(n, a, b, c, n / 8);
    for (int i = n * n / 8; i < n * n; ++i) c[i] = 1;
  } else {
    honest(n, a, b, c);
    takes = tools::ticks() - begin;
  }
  ended = tools::ticks();
}
