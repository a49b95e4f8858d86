// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B in half precision with sums in single precision, row-major: A is n x k, B is k x m, C is n x m. One thread
// computes one element of C.
__global__ void matmul(int n, int m, int k, const __half* a, const __half* b, __half* c) {
  if (blockIdx.y * blockDim.y + threadIdx.y >= n || blockIdx.x * blockDim.x + threadIdx.x >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __half2float(a[(size_t)(blockIdx.y * blockDim.y + threadIdx.y) * k + i]) *
           __half2float(b[(size_t)i * m + blockIdx.x * blockDim.x + threadIdx.x]);
  c[(size_t)(blockIdx.y * blockDim.y + threadIdx.y) * m + blockIdx.x * blockDim.x + threadIdx.x] = __float2half(sum);
}
