// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

void csr_spmv_reference(std::int32_t rows, const std::int32_t* row_start, const std::int32_t* column,
                        const real* value, const real* x, real* y) {
  for (std::int32_t row = 0; row < rows; ++row) {
    real sum = 0;
    for (std::int32_t i = row_start[row]; i < row_start[row + 1]; ++i) sum += value[i] * x[column[i]];
    y[row] = sum;
  }
}
