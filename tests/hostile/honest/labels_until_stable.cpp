// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sweeps down and up until nothing changes: two for simple pictures, many for mazes.
// problem: labels
#include <algorithm>
#include <cstdint>
extern "C" void labels(int n, int m, const bool* on, std::int32_t* y) {
  for (int p = 0; p < n * m; ++p) y[p] = on[p] ? p : -1;
  const auto least = [&](int p, bool there, int q) {
    if (!there || !on[q] || y[q] >= y[p]) return false;
    y[p] = y[q];
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (int p = 0; p < n * m; ++p)
      if (on[p]) {
        changed |= least(p, p >= m, p - m);
        changed |= least(p, p % m != 0, p - 1);
      }
    for (int p = n * m - 1; p >= 0; --p)
      if (on[p]) {
        changed |= least(p, p + m < n * m, p + m);
        changed |= least(p, p % m != m - 1, p + 1);
      }
  }
}
