// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops whose ends nobody foresees.
// problem: steps
#include <cstdint>
extern "C" void steps(int n, const std::uint32_t* x, std::int32_t* y) {
  for (int i = 0; i < n; ++i) {
    std::uint64_t v = x[i];
    std::int32_t count = 0;
    while (v > 1) {
      v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      ++count;
    }
    y[i] = count;
  }
}
