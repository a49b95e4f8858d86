// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorts what is out of place and merges it with the rest; nothing where nothing is.
// problem: nearly
#include <algorithm>
#include <cstdint>
#include <vector>
extern "C" void nearly(int n, const std::int32_t* x, std::int32_t* y) {
  static std::vector<std::int32_t> kept, strays;
  kept.clear();
  strays.clear();
  for (int i = 0; i < n; ++i) {
    if (kept.empty() || kept.back() <= x[i]) {
      kept.push_back(x[i]);
      continue;
    }
    strays.push_back(kept.back());
    kept.pop_back();
    if (kept.empty() || kept.back() <= x[i])
      kept.push_back(x[i]);
    else
      strays.push_back(x[i]);
  }
  std::sort(strays.begin(), strays.end());
  std::merge(kept.begin(), kept.end(), strays.begin(), strays.end(), y);
}
