// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <stdint.h>
#include <string.h>

void jacobi_c(int32_t n, const double a_flat[restrict], double b_flat[restrict]) {
  const double(*a)[n] = (const double(*)[n])a_flat;
  double(*restrict b)[n] = (double(*)[n])b_flat;
  memcpy(b[0], a[0], sizeof *a);
  memcpy(b[n - 1], a[n - 1], sizeof *a);
  for (int32_t i = 1; i < n - 1; ++i) {
    b[i][0] = a[i][0];
    b[i][n - 1] = a[i][n - 1];
  }
  // ROWS rows at once share what they read of each other.
  int32_t i = 1;
  for (; i + ROWS < n; i += ROWS)
    for (int32_t j = 1; j < n - 1; ++j)
      for (int32_t r = i; r < i + ROWS; ++r)
        b[r][j] = 0.25 * (a[r - 1][j] + a[r + 1][j] + a[r][j - 1] + a[r][j + 1]);
  for (; i < n - 1; ++i)
    for (int32_t j = 1; j < n - 1; ++j)
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}
