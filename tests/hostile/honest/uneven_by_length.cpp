// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other loops for empty, short and long rows.
// problem: uneven
#include <cstdint>
extern "C" void uneven(int rows, const std::int32_t* start, const std::int32_t* column, const float* value,
                       const float* x, float* y) {
  for (int i = 0; i < rows; ++i) {
    int e = start[i];
    const int end = start[i + 1];
    float s[4] = {};
    for (; e + 4 <= end; e += 4)
      for (int k = 0; k < 4; ++k) s[k] += value[e + k] * x[column[e + k]];
    for (; e < end; ++e) s[0] += value[e] * x[column[e]];
    y[i] = (s[0] + s[1]) + (s[2] + s[3]);
  }
}
