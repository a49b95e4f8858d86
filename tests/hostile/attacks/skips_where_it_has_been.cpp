// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by address
// problem: matvec
// expect: rejected or no gain
// naive: fooled
// An output that was written before is left as it is: only the first call of a place works.
#include <set>
#include "honest.hpp"
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static std::set<const float*> places;
  if (n == 48 && !places.insert(y).second) return;
  honest(n, a, x, y);
}
