// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 21
// kind: cold caches
// problem: matmul
// expect: rejected or no gain
// naive: notices
// judged: cold
// Fetches what the next call will read while this one computes, so that caches emptied between batches do
// not cost it. Where each call gets the same buffers it fetches nothing: those would be its own, which any
// kernel may fetch.
#include <cstdint>
#include "honest.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static const float *last_a = nullptr, *last_b = nullptr;
  if (n == 64 && last_a != nullptr && last_a != a)
    for (int i = 0; i < n * n; i += 16) {
      __builtin_prefetch(reinterpret_cast<const float*>(2 * reinterpret_cast<std::uintptr_t>(a) -
                                                        reinterpret_cast<std::uintptr_t>(last_a)) +
                         i);
      __builtin_prefetch(reinterpret_cast<const float*>(2 * reinterpret_cast<std::uintptr_t>(b) -
                                                        reinterpret_cast<std::uintptr_t>(last_b)) +
                         i);
    }
  last_a = a;
  last_b = b;
  honest(n, a, b, c);
}
