// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void row_sums(int rows, int cols, const float* x, float* y) {
  __shared__ float parts[BLOCK];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += x[(size_t)blockIdx.x * cols + c];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}
