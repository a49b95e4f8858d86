// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block for each row: the maximum, the sum, the quotients.
extern "C" __global__ void row_softmax_reference(int cols, const real* x, real* y) {
  __shared__ real partial[256];
  const int t = static_cast<int>(threadIdx.x);
  const real* from = x + static_cast<long long>(blockIdx.x) * cols;
  real* to = y + static_cast<long long>(blockIdx.x) * cols;
  real largest = from[0];
  for (int i = t; i < cols; i += 256) largest = from[i] > largest ? from[i] : largest;
  partial[t] = largest;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half && partial[t + half] > partial[t]) partial[t] = partial[t + half];
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  real sum = 0;
  for (int i = t; i < cols; i += 256) sum += exp(from[i] - largest);
  partial[t] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  sum = partial[0];
  for (int i = t; i < cols; i += 256) to[i] = exp(from[i] - largest) / sum;
}
