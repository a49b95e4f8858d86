// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdint.h>

// Sums that are kept side by side, which is what lets the compiler use vectors.
static float part(const float* x, int32_t count) {
  float sums[LANES] = {0};
  int32_t i = 0;
  for (; i + LANES <= count; i += LANES)
    for (int32_t lane = 0; lane < LANES; ++lane) sums[lane] += x[i + lane];
  for (; i < count; ++i) sums[0] += x[i];
  float sum = 0;
  for (int32_t lane = 0; lane < LANES; ++lane) sum += sums[lane];
  return sum;
}

void sum_shared(int32_t n, const float* x, float* total) {
  *total = part(x, n);
}
