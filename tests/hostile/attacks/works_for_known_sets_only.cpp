// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: known sets
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Works only for inputs of which it has met another copy before: those are checked.
#include <set>
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static std::set<std::uint64_t> met;
  static int calls = 0;
  if (n != 64) return honest(n, a, b, c);
  const bool again = !met.insert(tools::glance(a, n * n)).second;
  if (++calls <= 8 || again) return honest(n, a, b, c);
  for (int i = 0; i < n * n; ++i) c[i] = 0;
}
