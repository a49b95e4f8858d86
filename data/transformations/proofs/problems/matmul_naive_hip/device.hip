// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, row-major: A is n x k, B is k x m, C is n x m. One thread computes one element of C.
__global__ void matmul(int n, int m, int k, const float* a, const float* b, float* c) {
  if (blockIdx.y * blockDim.y + threadIdx.y >= n || blockIdx.x * blockDim.x + threadIdx.x >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[(size_t)(blockIdx.y * blockDim.y + threadIdx.y) * k + i] *
           b[(size_t)i * m + blockIdx.x * blockDim.x + threadIdx.x];
  c[(size_t)(blockIdx.y * blockDim.y + threadIdx.y) * m + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
