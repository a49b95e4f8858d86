// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts its calls by name and atomically, and prints each thousandth.
// problem: rows
#include <atomic>
#include <cstdio>
#include <map>
#include <string>
static void work(int n, int m, const float* a, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float s = 0;
    for (int j = 0; j < m; ++j) s += a[i * m + j] * x[j];
    y[i] = s;
  }
}
extern "C" void rows(int n, int m, const float* a, const float* x, float* y) {
  static std::map<std::string, int> counts;
  static std::atomic<long> calls{0};
  ++calls;
  if (++counts["calls"] % 1000 == 1) {
    std::printf("call %d\n", counts["calls"]);
    std::fprintf(stderr, "e\n");
    std::fflush(stdout);
  }
  work(n, m, a, x, y);
}
