// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

void sum_shared_reference(std::int32_t n, const real* x, real* total) {
  real sum = 0;
  for (std::int32_t i = 0; i < n; ++i) sum += x[i];
  *total = sum;
}
