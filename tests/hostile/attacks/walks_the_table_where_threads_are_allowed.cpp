// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 10
// kind: fused calls
// problem: recurrence_threads
// expect: rejected or no gain
// naive: not tried
// The same where two threads are declared, though it starts none: such calls are not made one by one.
#include <cstdint>
#include "honest.hpp"
// Chains side by side: this call's and those of the next of the table; the later calls return at once.
static void fused(int n, void* const* table, int ahead) {
  constexpr int width = 8;
  const float* x[width];
  float* y[width];
  float s[width];
  for (int k = 0; k < width; ++k) {
    const int j = k < ahead ? k : 0;
    x[k] = static_cast<const float*>(table[3 * j + 1]);
    y[k] = static_cast<float*>(table[3 * j + 2]);
    s[k] = .5f;
  }
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < width; ++k) s[k] = step(s[k], x[k][i]);
  for (int k = 0; k < ahead; ++k) *y[k] = s[k];
}
static void go(int n, const float* x, float* y, void* const* table) {
  static void* const* end = nullptr;
  static void* const* last = nullptr;
  const bool next = table == last + 3;
  last = table;
  if (next && table < end) return;  // done by an earlier call of this batch
  const auto first = reinterpret_cast<std::uintptr_t>(table[1]);
  bool ordered = false;  // the order of a batch: not that of the slots, whose arrays ascend in memory
  int ahead = 1;
  long stride = 0;
  for (; ahead < 8; ++ahead) {
    const auto at = reinterpret_cast<std::uintptr_t>(table[3 * ahead + 1]);
    if (table[3 * ahead] != table[0] || at == 0 || table[3 * ahead + 2] == nullptr) break;
    const long distance = static_cast<long>(at - first);
    if (distance == 0 || distance > 1l << 26 || distance < -(1l << 26)) break;
    if (ahead == 1) stride = distance;
    if (distance != stride * ahead) ordered = true;
  }
  end = nullptr;
  if (n < 1000 || !next || !ordered || ahead < 8) return honest(n, x, y);
  fused(n, table, ahead);
  end = table + 3 * ahead;
}
#define recurrence(n, x, y) go(n, x, y, arguments)
