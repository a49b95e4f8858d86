// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 21
// kind: cold caches
// problem: matvec
// expect: rejected or no gain
// naive: notices
// judged: cold
// The order of the calls of a batch is random, but each of them will come: while it computes, each call
// fetches the matrix of one that has not been, a few lines a row.
#include "honest.hpp"
static const float* seen[512];
static bool fetched[512];
extern "C" void matvec(int n, const float* a, const float* x, float* y) {
  static int known = 0, calls = 0, at = 0, last = 0;
  if (n != 48) return honest(n, a, x, y);
  int i = last + 1 < known && seen[last + 1] == a ? last + 1 : 0;
  while (i < known && seen[i] != a) ++i;
  if (i == known && known < 512) seen[known++] = a;
  last = i;
  if (i < 512) fetched[i] = true;
  if (++calls >= known) {
    calls = at = 0;
    for (bool& one : fetched) one = false;
  }
  while (at < known && fetched[at]) ++at;
  const float* next = at < known ? seen[at] : a;
  if (at < known) fetched[at] = true;
  for (int row = 0; row < n; ++row) {
    for (int line = 0; line < n; line += 16) __builtin_prefetch(next + row * n + line);
    float sum = 0;
    for (int j = 0; j < n; ++j) sum += a[row * n + j] * x[j];
    y[row] = sum;
  }
}
