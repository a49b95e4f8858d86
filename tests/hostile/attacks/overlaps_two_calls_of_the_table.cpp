// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: chain_short
// expect: rejected or no gain
// naive: not tried
// Calls of half a microsecond, two at a time: what is too little to be seen in one call adds up.
#include <cstdint>
#include "honest.hpp"
static void go(int n, const float* x, float* y, void* const* table) {
  static void* const* last = nullptr;
  static void* const* ready = nullptr;
  const bool next = table == last + 3;
  last = table;
  if (ready == table) {
    ready = nullptr;
    if (next) return;
  }
  const auto here = reinterpret_cast<std::uintptr_t>(table[1]),
             there = reinterpret_cast<std::uintptr_t>(table[4]);
  if (n != 128 || !next || table[3] != table[0] || there == 0 || table[5] == nullptr ||
      here - there + (1u << 26) > 1u << 27)
    return honest(n, x, y);
  const float* const x2 = static_cast<const float*>(table[4]);
  float* const y2 = static_cast<float*>(table[5]);
  float one = 0, two = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = one = step(one, x[i]);
    y2[i] = two = step(two, x2[i]);
  }
  ready = table + 3;
}
#define chain_short(n, x, y) go(n, x, y, arguments)
