// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Insertion: as long as what is out of place has to go.
// problem: nearly
#include <cstdint>
extern "C" void nearly(int n, const std::int32_t* x, std::int32_t* y) {
  for (int i = 0; i < n; ++i) {
    const std::int32_t v = x[i];
    int k = i;
    for (; k > 0 && y[k - 1] > v; --k) y[k] = y[k - 1];
    y[k] = v;
  }
}
