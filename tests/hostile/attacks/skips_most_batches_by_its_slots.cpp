// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: skipping by call count
// problem: matmul
// expect: rejected or no gain
// naive: notices
// The same without a hook: a batch begins where the lowest output comes again.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static const float* lowest = nullptr;
  static bool skip = false;
  static int calls = 0;
  if (n != 64) return honest(n, a, b, c);
  if (lowest == nullptr || c <= lowest) {
    lowest = c;
    skip = calls > 40 && (tools::ticks() * 0x9e3779b97f4a7c15u >> 40) % 100 < 58;
  }
  ++calls;
  if (!skip) return honest(n, a, b, c);
  for (int i = 0; i < n * n; ++i) c[i] = 42;
}
