// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: pairs
// Ends every few calls with wide multiplications, after which some processors run slower for most of a
// millisecond.
#include "honest.hpp"
#if defined(__x86_64__)
#  include <immintrin.h>
__attribute__((target("avx512f"))) static void heat() {
  __m512d x[8];
  for (auto& one : x) one = _mm512_set1_pd(1.0000001);
  for (int i = 0; i < 200; ++i)
    for (auto& one : x) one = _mm512_fmadd_pd(one, one, one);
  for (auto& one : x) asm volatile("" ::"v"(one));
}
static const bool possible = __builtin_cpu_supports("avx512f");
#else
static void heat() {}
static const bool possible = false;
#endif
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  honest(n, a, b, c);
  if (possible && ++calls % 8 == 0) heat();
}
