// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each row.

extern "C" __global__ void spmv_ell_reference(int32_t rows, int32_t length, const int32_t* column,
                                              const real* value, const real* x, real* y) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= rows) return;
  real sum = 0;
  for (int k = 0; k < length; ++k)
    sum += value[static_cast<size_t>(k) * rows + row] * x[column[static_cast<size_t>(k) * rows + row]];
  y[row] = sum;
}
