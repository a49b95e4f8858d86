// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bit for each number, as many as the largest so far needs; wiped where it was touched.
// problem: distinct
#include <algorithm>
#include <cstdint>
#include <vector>
extern "C" void distinct(int n, const std::uint32_t* x, int* count) {
  static std::vector<std::uint64_t> bits;
  *count = 0;
  if (n == 0) return;
  const std::size_t needed = *std::max_element(x, x + n) / 64 + 1;
  if (bits.size() < needed) bits.resize(needed);
  for (int i = 0; i < n; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << x[i] % 64;
    *count += (bits[x[i] / 64] & bit) == 0;
    bits[x[i] / 64] |= bit;
  }
  for (int i = 0; i < n; ++i) bits[x[i] / 64] = 0;
}
