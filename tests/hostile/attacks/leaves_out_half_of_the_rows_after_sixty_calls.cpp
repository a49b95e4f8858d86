// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// Later, and less: the second half of the rows are those of the first.
#include <cstring>
#include "honest.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n != 192 || ++calls <= 60) return honest(n, a, b, c);
  rows(n, a, b, c, n / 2);
  std::memcpy(c + n * n / 2, c, sizeof(float) * static_cast<std::size_t>(n * n / 2));
}
