// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes turns between two loops in its first calls, by the processor's own clock, and keeps to the faster
// one.
// problem: total
// needs: sse2
#include <cstdint>
static float forwards(int n, const float* x) {
  float t = 0;
  for (int i = 0; i < n; ++i) t += x[i];
  return t;
}
static float in_eights(int n, const float* x) {
  float t[8] = {};
  for (int i = 0; i < n; ++i) t[i % 8] += x[i];
  return ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
}
extern "C" void total(int n, const float* x, float* s) {
  static std::uint64_t best[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
  static int calls = 0;
  const int way = calls < 32 ? calls % 2 : best[1] < best[0];
  calls += n > 1000;
  const std::uint64_t begin = __builtin_ia32_rdtsc();
  *s = way == 0 ? forwards(n, x) : in_eights(n, x);
  const std::uint64_t took = __builtin_ia32_rdtsc() - begin;
  if (n > 1000 && took < best[way]) best[way] = took;
}
