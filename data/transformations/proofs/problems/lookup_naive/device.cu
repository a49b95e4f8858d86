// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void lookup(int n, const uint8_t* x, const float* table, float* y) {
  __shared__ float known[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) known[i] = table[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = known[x[i]];
}
