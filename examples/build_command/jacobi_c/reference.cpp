// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

void jacobi_c_reference(std::int32_t n, const real* a, real* b) {
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const std::int32_t at = i * n + j;
      const bool edge = i == 0 || j == 0 || i == n - 1 || j == n - 1;
      b[at] = edge ? a[at] : (a[at - n] + a[at + n] + a[at - 1] + a[at + 1]) / 4;
    }
}
