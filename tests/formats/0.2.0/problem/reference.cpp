// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

void prefix_sum_reference(std::int64_t n, real* values) {
  real sum = 0;
  for (std::int64_t i = 0; i < n; ++i) values[i] = sum += values[i];
}
