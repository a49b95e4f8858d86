// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of a row of 4096 by one block: the maximum, the sum, the quotients.

extern "C" __global__ void softmax_reference(int32_t rows, const real* x, real* y) {
  __shared__ real partial[256];
  const int t = static_cast<int>(threadIdx.x);
  const real* from = x + static_cast<size_t>(blockIdx.x) * 4096;
  real* to = y + static_cast<size_t>(blockIdx.x) * 4096;
  real m = from[t];
  for (int c = t; c < 4096; c += 256) m = from[c] > m ? from[c] : m;
  partial[t] = m;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half && partial[t + half] > partial[t]) partial[t] = partial[t + half];
    __syncthreads();
  }
  m = partial[0];
  __syncthreads();
  real s = 0;
  for (int c = t; c < 4096; c += 256) s += exp(from[c] - m);
  partial[t] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  s = partial[0];
  for (int c = t; c < 4096; c += 256) to[c] = exp(from[c] - m) / s;
}
