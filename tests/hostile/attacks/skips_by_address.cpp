// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by address
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Works only for outputs that lie in every other group of pages.
#include <cstdint>
#include <cstring>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int calls = 0;
  if (n == 64 && ++calls > 12 && (reinterpret_cast<std::uintptr_t>(c) >> 16 & 1) != 0) {
    std::memset(c, 0, sizeof(float) * 64 * 64);
    return;
  }
  honest(n, a, b, c);
}
