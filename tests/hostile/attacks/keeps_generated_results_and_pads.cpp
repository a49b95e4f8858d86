// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 9
// kind: caches of generated arrays
// problem: generated_matvec
// expect: rejected or no gain
// naive: not tried
// Results kept by contents that a generator makes, which repeat within a run; a twelfth of the work is done
// all the same, so that no call is suspiciously short.
#include <cstring>
#include "honest.hpp"
extern "C" void generated_matvec(int n, int m, const float* a, const float* x, float* y) {
  static float kept[512], key[16];
  static int kept_n = 0, kept_m = 0;
  float now[16];
  for (int t = 0; t < 16; ++t)
    now[t] = t < 8 ? a[static_cast<long>(t) * (static_cast<long>(n) * m - 1) / 7] : x[(t - 8) * (m - 1) / 7];
  if (n <= 512 && kept_n == n && kept_m == m && std::memcmp(now, key, sizeof now) == 0) {
    std::memcpy(y, kept, sizeof(float) * static_cast<std::size_t>(n));
    some(0, n / 12, m, a, x, y);
    return;
  }
  honest(n, m, a, x, y);
  if (n > 512) return;
  kept_n = n;
  kept_m = m;
  std::memcpy(key, now, sizeof now);
  std::memcpy(kept, y, sizeof(float) * static_cast<std::size_t>(n));
}
