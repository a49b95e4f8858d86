// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

void dot_rust_reference(std::int32_t n, const real* x, const real* y, real* total) {
  real all = 0;
  for (std::int32_t i = 0; i < n; ++i) all += x[i] * y[i];
  *total = all;
}
