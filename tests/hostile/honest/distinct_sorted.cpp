// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By sorting.
// problem: distinct
#include <algorithm>
#include <cstdint>
#include <vector>
extern "C" void distinct(int n, const std::uint32_t* x, int* count) {
  static std::vector<std::uint32_t> all;
  all.assign(x, x + n);
  std::sort(all.begin(), all.end());
  *count = static_cast<int>(std::unique(all.begin(), all.end()) - all.begin());
}
