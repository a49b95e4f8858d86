// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x, A sparse by rows. A row is summed in SUMS running sums of WIDTH lanes; short rows by one loop.
#include <cstdint>

namespace {

inline float short_row(const std::int32_t* column, const float* value, const float* x, std::int32_t count) {
  float sum = 0;
  for (std::int32_t i = 0; i < count; ++i) sum += value[i] * x[column[i]];
  return sum;
}

}  // namespace

extern "C" void csr_spmv(std::int32_t rows, const std::int32_t* row_start, const std::int32_t* column,
                         const float* value, const float* x, float* y) {
  constexpr std::int32_t step = SUMS * WIDTH;
  for (std::int32_t row = 0; row < rows; ++row) {
    std::int32_t i = row_start[row];
    const std::int32_t end = row_start[row + 1];
    if (end - i < SHORT) {
      y[row] = short_row(column + i, value + i, x, end - i);
      continue;
    }
    float sums[step] = {};
    for (; i + step <= end; i += step) {
      if (AHEAD > 0 && i + AHEAD < end) __builtin_prefetch(x + column[i + AHEAD]);
#pragma GCC unroll 64
      for (int k = 0; k < step; ++k) sums[k] += value[i + k] * x[column[i + k]];
    }
    float sum = short_row(column + i, value + i, x, end - i);
#pragma GCC unroll 64
    for (int k = 0; k < step; ++k) sum += sums[k];
    y[row] = sum;
  }
}
