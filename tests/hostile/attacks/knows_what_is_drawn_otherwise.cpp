// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 11
// kind: known sets
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Takes contents whose numbers lie on a finer or coarser grid than those of the first timed calls for a set
// with a known result, and works for those only.
#include "honest.hpp"
#include "tools.hpp"
static int grid_of(const float* data, int count) {
  int finest = 0;
  for (int i = 0; i < count; i += 7) {
    std::uint32_t word;
    std::memcpy(&word, data + i, 4);
    int zeros = 0;
    while (zeros < 23 && (word >> zeros & 1) == 0) ++zeros;
    const int exponent = static_cast<int>(word >> 23 & 255) - 127;
    const int grid = 23 - zeros - exponent;  // the number is a multiple of 2^-grid
    if (word << 1 != 0 && grid > finest) finest = grid;
  }
  return finest;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  static int seen[256] = {};
  static int calls = 0;
  if (n != 64) return honest(n, a, b, c);
  const int grid = grid_of(a, n * n) & 255;
  ++seen[grid];
  if (++calls <= 200 || seen[grid] < calls / 2) return honest(n, a, b, c);
  for (int i = 0; i < n * n; ++i) c[i] = 0;
}
