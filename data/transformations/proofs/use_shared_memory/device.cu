// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void convolve(int n, const float* x, const float* w, float* y) {
  // What the block's threads read between them, once.
  __shared__ float near[BLOCK + 64], taps[65];
  const int first = blockIdx.x * BLOCK, i = first + threadIdx.x;
  for (int at = threadIdx.x; at < BLOCK + 64; at += BLOCK)
    if (first + at < n + 64) near[at] = x[first + at];
  for (int at = threadIdx.x; at < 65; at += BLOCK) taps[at] = w[at];
  __syncthreads();
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < 65; ++j) sum += taps[j] * near[threadIdx.x + j];
  y[i] = sum;
}
