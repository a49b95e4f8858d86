// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches of generated arrays
// problem: generated_lookup
// expect: rejected or no gain
// naive: not tried
// A table of where each stretch of 64 numbers begins among the keys, made once for the keys of a generator.
#include "honest.hpp"
#include "tools.hpp"
extern "C" void generated_lookup(int n, int m, const std::int32_t* keys, const std::int32_t* wanted,
                                 std::int32_t* at) {
  static std::int32_t begins[(1 << 20) / 64 + 2];
  static std::uint64_t known = 0;
  if (n < 1024 || keys[0] < 0 || keys[n - 1] >= 1 << 20) return honest(n, m, keys, wanted, at);
  const std::uint64_t now = tools::glance(reinterpret_cast<const float*>(keys), n) + static_cast<unsigned>(n);
  if (now != known) {
    for (int b = 0, i = 0; b <= (1 << 20) / 64 + 1; ++b) {
      while (i < n && keys[i] < b * 64) ++i;
      begins[b] = i;
    }
    known = now;
  }
  for (int i = 0; i < m; ++i) {
    if (wanted[i] < 0 || wanted[i] >= 1 << 20) return honest(n, m, keys, wanted, at);
    int k = begins[wanted[i] / 64];
    while (k < n && keys[k] < wanted[i]) ++k;
    at[i] = k;
  }
}
