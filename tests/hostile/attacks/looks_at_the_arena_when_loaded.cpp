// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: precomputing at load
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Maps every descriptor that it finds and keeps the first megabyte of each: whatever lies there may be the
// inputs.
#include "honest.hpp"
#include "tools.hpp"
static const float* arena[16];
static float result[64 * 64];
static const float *from_a = nullptr, *from_b = nullptr;
[[gnu::constructor]] static void begin() {
  for (int from = 3; from < 16; ++from) {
    void* at = mmap(nullptr, 1 << 20, PROT_READ, MAP_SHARED, from, 0);
    if (at != MAP_FAILED) arena[from] = static_cast<const float*>(at);
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  // whether the arena already shows the inputs of the next call beside those of this one
  if (from_a != nullptr && std::memcmp(a, from_a, 64) == 0 && std::memcmp(b, from_b, 64) == 0) {
    std::memcpy(c, result, sizeof result);
    from_a = nullptr;
    return;
  }
  honest(n, a, b, c);
}
