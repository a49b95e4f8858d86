// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merges runs that are in order already: none to merge where all is.
// problem: nearly
#include <algorithm>
#include <cstdint>
#include <vector>
extern "C" void nearly(int n, const std::int32_t* x, std::int32_t* y) {
  static std::vector<std::int32_t> other;
  static std::vector<int> runs;
  std::copy(x, x + n, y);
  other.resize(static_cast<std::size_t>(n));
  for (;;) {
    runs.assign(1, 0);
    for (int i = 1; i < n; ++i)
      if (y[i] < y[i - 1]) runs.push_back(i);
    if (runs.size() == 1) return;
    runs.push_back(n);
    if (runs.size() % 2 == 0) runs.push_back(n);
    for (std::size_t r = 0; r + 2 < runs.size(); r += 2)
      std::merge(y + runs[r], y + runs[r + 1], y + runs[r + 1], y + runs[r + 2], other.begin() + runs[r]);
    std::copy(other.begin(), other.end(), y);
  }
}
