// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 13
// kind: early done words
// problem: chain_short
// expect: rejected or no gain
// naive: notices
// Where calls are handed out one by one, the word that says done is written first and the work done then.
#include "honest.hpp"
#include "tools.hpp"

#include "arena.hpp"  // needs the others
extern "C" void chain_short(int n, const float* x, float* y) {
  if (one_by_one()) answer() = request().sequence;
  honest(n, x, y);
}
