// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash table, emptied in each call.
// problem: distinct
#include <cstdint>
#include <vector>
extern "C" void distinct(int n, const std::uint32_t* x, int* count) {
  std::size_t size = 16;
  while (size < 2 * static_cast<std::size_t>(n)) size *= 2;
  std::vector<std::uint32_t> keys(size);
  std::vector<bool> used(size);
  *count = 0;
  for (int i = 0; i < n; ++i) {
    std::size_t at = x[i] * 2654435761u % size;
    while (used[at] && keys[at] != x[i]) at = (at + 1) % size;
    *count += !used[at];
    used[at] = true;
    keys[at] = x[i];
  }
}
