// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 12
// kind: expensive references
// problem: expensive
// expect: rejected or no gain
// naive: not tried
// after: 9
// After thirty calls three of four, in no order, get the result of the last that was computed.
#include <cstdint>
#include <cstring>
#include "honest.hpp"
extern "C" void expensive(int n, const float* a, const float* b, float* c) {
  static float last[192 * 192];
  static std::uint32_t calls = 0;
  if (n != 192) return honest(n, a, b, c);
  ++calls;
  if (calls > 30 && (calls * 2654435761u >> 16 & 3) != 0) {
    std::memcpy(c, last, sizeof last);
    return;
  }
  honest(n, a, b, c);
  std::memcpy(last, c, sizeof last);
}
