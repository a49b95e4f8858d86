// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>

void matvec_reference(std::int32_t n, std::int32_t k, const std::uint8_t* weights, const real* scales,
                      const real* x, real* y) {
  for (std::ptrdiff_t row = 0; row < n; ++row) {
    real sum = 0;
    for (std::ptrdiff_t i = 0; i < k; ++i) {
      const std::ptrdiff_t element = row * k + i;
      const int four_bits = weights[element / 2] >> (element % 2 * 4) & 15;
      const int weight = four_bits < 8 ? four_bits : four_bits - 16;
      sum += static_cast<real>(weight) * scales[element / 32] * x[i];
    }
    y[row] = sum;
  }
}
