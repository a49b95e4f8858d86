// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 6
// kind: deferred work
// problem: matmul
// expect: rejected
// naive: fooled
// Every call does what the last one left undone; of a timed series only the last call is never done.
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  struct Call {
    int n;
    const float *a, *b;
    float* c;
  };
  static Call last{};
  static int calls = 0;
  if (n != 64 || ++calls < 2) return honest(n, a, b, c);
  if (last.c != nullptr && last.c != c) honest(last.n, last.a, last.b, last.c);
  last = {n, a, b, c};
}
