// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row by row.
// problem: uneven
#include <cstdint>
extern "C" void uneven(int rows, const std::int32_t* start, const std::int32_t* column, const float* value,
                       const float* x, float* y) {
  for (int i = 0; i < rows; ++i) {
    float s = 0;
    for (int e = start[i]; e < start[i + 1]; ++e) s += value[e] * x[column[e]];
    y[i] = s;
  }
}
