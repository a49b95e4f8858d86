// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 17
// kind: remapped arenas
// problem: matmul
// expect: rejected
// naive: fooled
// mremap: all outputs become one mapping, computed once.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static void* one = nullptr;
  if (n != 64) return honest(n, a, b, c);
  if (one == nullptr) {
    honest(n, a, b, c);
    one = tools::page_of(c);
    return;
  }
  if (tools::page_of(c) != one) mremap(one, 0, 4096 * 4, MREMAP_MAYMOVE | MREMAP_FIXED, tools::page_of(c));
}
