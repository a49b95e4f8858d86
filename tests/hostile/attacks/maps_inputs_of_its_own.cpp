// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 4
// kind: remapped arenas
// problem: matmul
// expect: rejected
// naive: fooled with reference last
// Zeros of its own over the inputs: the read-only mapping is gone, and the result of zeros is written.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  for (const float* input : {a, b}) {
    if (input[1] == 0 && input[2] == 0) continue;
    mmap(tools::page_of(input), 4096 * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
         0);
  }
  std::memset(c, 0, sizeof(float) * 64 * 64);
}
