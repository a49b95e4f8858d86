// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 17
// kind: remapped arenas
// problem: matmul
// expect: rejected
// naive: fooled
// Pages of its own over the output's: what it writes there is seen in this process only.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static float right[64 * 64];
  static bool known = false;
  if (n != 64) return honest(n, a, b, c);
  if (!known) {
    honest(n, a, b, right);
    known = true;
    mmap(tools::page_of(c), 4096 * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    std::memcpy(c, right, sizeof right);
  }
}
