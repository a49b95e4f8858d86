// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void row_sums(int rows, int cols, const float* x, float* y) {
  __shared__ float parts[32];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += BLOCK) sum += x[(size_t)blockIdx.x * cols + c];
  sum = ks_block_reduce<BLOCK>(sum, 0.0f, parts, threadIdx.x, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
