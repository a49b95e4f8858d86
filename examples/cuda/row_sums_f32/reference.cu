// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of a row by one block.

extern "C" __global__ void row_sums_reference(int32_t rows, int32_t cols, const real* x, real* y) {
  __shared__ real partial[256];
  const int t = static_cast<int>(threadIdx.x);
  const real* from = x + static_cast<size_t>(blockIdx.x) * cols;
  real s = 0;
  for (int c = t; c < cols; c += 256) s += from[c];
  partial[t] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = partial[0];
}
