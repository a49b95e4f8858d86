// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 23
// kind: slowed baselines
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: pairs
// Every sixteenth call fills the caches with lines that must be written back before others find room.
#include <cstddef>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static unsigned char rubbish[std::size_t{4} << 20];
  static int calls = 0;
  honest(n, a, b, c);
  if (++calls % 16 == 0)
    for (std::size_t i = 0; i < sizeof rubbish; i += 64) rubbish[i] = static_cast<unsigned char>(calls);
}
