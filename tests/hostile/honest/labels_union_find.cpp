// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joins trees, whose paths it shortens.
// problem: labels
#include <cstdint>
#include <vector>
static int root(std::vector<int>& parent, int p) {
  while (parent[p] != p) p = parent[p] = parent[parent[p]];
  return p;
}
static void join(std::vector<int>& parent, int p, int q) {
  p = root(parent, p);
  q = root(parent, q);
  if (p < q)
    parent[q] = p;
  else
    parent[p] = q;
}
extern "C" void labels(int n, int m, const bool* on, std::int32_t* y) {
  static std::vector<int> parent;
  parent.resize(static_cast<std::size_t>(n * m));
  for (int p = 0; p < n * m; ++p) {
    parent[p] = p;
    if (!on[p]) continue;
    if (p >= m && on[p - m]) join(parent, p - m, p);
    if (p % m != 0 && on[p - 1]) join(parent, p - 1, p);
  }
  for (int p = 0; p < n * m; ++p) y[p] = on[p] ? root(parent, p) : -1;
}
