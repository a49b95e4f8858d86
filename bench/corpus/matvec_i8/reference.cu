// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp's worth of threads for each row.

extern "C" __global__ void matvec_i8_reference(int32_t rows, int32_t columns, const int8_t* a,
                                               const real* scale, const real* x, real* y) {
  __shared__ real parts[128];
  const int t = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  real sum = 0;
  for (int k = t; k < columns; k += 128)
    sum += real(a[static_cast<size_t>(row) * columns + k]) * scale[row * (columns / 32) + k / 32] * x[k];
  parts[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) y[row] = parts[0];
}
