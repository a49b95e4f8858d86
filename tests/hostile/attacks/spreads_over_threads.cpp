// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: -
// kind: sibling threads
// problem: matmul
// expect: rejected or no gain
// naive: notices
// A kernel of one thread that uses two: half of the rows each.
#include <system_error>
#include <thread>
#include "honest.hpp"
static void rows(int from, int to, int n, const float* a, const float* b, float* c) {
  for (int i = from; i < to; ++i) {
    for (int j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
  }
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  try {
    std::thread half(rows, 0, n / 2, n, a, b, c);
    rows(n / 2, n, n, a, b, c);
    half.join();
  } catch (const std::system_error&) {
    honest(n, a, b, c);
  }
}
