// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp for each row.

extern "C" __global__ void csr_spmv_reference(int32_t rows, const int32_t* row_start, const int32_t* column,
                                              const real* value, const real* x, real* y) {
  __shared__ real partial[256];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32;
  const int row = static_cast<int>(blockIdx.x) * 8 + t / 32;
  real sum = 0;
  if (row < rows)
    for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * x[column[i]];
  partial[t] = sum;
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    if (lane < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (lane == 0 && row < rows) y[row] = partial[t];
}
