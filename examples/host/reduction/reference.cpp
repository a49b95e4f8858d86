// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// The sum of n numbers, one after the other. (In single precision this loses digits that the kernel must
// keep: it is the baseline of the time; the check compares with the sum in double precision.)
void reduction_reference(std::int32_t n, const real* values, real* total) {
  real sum = 0;
  for (std::int32_t i = 0; i < n; ++i) sum += values[i];
  *total = sum;
}
