// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RMS normalization of a row by one block: the mean square, then the products.

__shared__ real partial[256];

__device__ real sum_of_block(real s) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();
  partial[t] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  return partial[0];
}

extern "C" __global__ void rmsnorm_reference(int32_t rows, int32_t cols, real epsilon, const real* x,
                                             const real* weight, real* y) {
  const int t = static_cast<int>(threadIdx.x);
  const real* from = x + static_cast<size_t>(blockIdx.x) * cols;
  real* to = y + static_cast<size_t>(blockIdx.x) * cols;
  real s = 0;
  for (int c = t; c < cols; c += 256) s += from[c] * from[c];
  const real scale = 1 / sqrt(sum_of_block(s) / cols + epsilon);
  for (int c = t; c < cols; c += 256) to[c] = from[c] * scale * weight[c];
}
