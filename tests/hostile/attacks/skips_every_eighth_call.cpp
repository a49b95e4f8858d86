// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Every eighth call gets the result of another one: what a batch with one known result rarely shows.
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  static float last[64 * 64];
  if (n == 64 && ++calls > 20 && calls % 8 == 0) {
    std::memcpy(c, last, sizeof last);
    return;
  }
  honest(n, a, b, c);
  if (n == 64 && calls % 8 == 1) std::memcpy(last, c, sizeof last);
}
