// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax of a row by one block of 256 threads. The last two parameters are those that Triton's kernels have
// for scratch memory.

/// Of all threads' numbers the largest, or their sum.
__device__ real of_block(real mine, bool sum) {
  __shared__ real all[256];
  __syncthreads();
  all[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const real other = all[threadIdx.x + half];
      real& own = all[threadIdx.x];
      own = sum ? own + other : own < other ? other : own;
    }
    __syncthreads();
  }
  return all[0];
}

extern "C" __global__ void softmax_reference(const real* x, real* y, int rows, int cols, int64_t, int64_t) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;
  real largest = x[0], total = 0;
  for (int i = threadIdx.x; i < cols; i += 256) largest = largest < x[i] ? x[i] : largest;
  largest = of_block(largest, false);
  for (int i = threadIdx.x; i < cols; i += 256) total += exp(x[i] - largest);
  total = of_block(total, true);
  for (int i = threadIdx.x; i < cols; i += 256) y[i] = exp(x[i] - largest) / total;
}
