// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of 16 x 16 in shared memory, one element of C for each thread.
extern "C" __global__ void matmul_reference(int n, int m, int k, const real* a, const real* b, real* c) {
  __shared__ real a_tile[16][16];
  __shared__ real b_tile[16][16];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * 16 + y, column = static_cast<int>(blockIdx.x) * 16 + x;
  real sum = 0;
  for (int depth = 0; depth < k; depth += 16) {
    a_tile[y][x] = row < n && depth + x < k ? a[static_cast<long long>(row) * k + depth + x] : 0;
    b_tile[y][x] = depth + y < k && column < m ? b[static_cast<long long>(depth + y) * m + column] : 0;
    __syncthreads();
    for (int d = 0; d < 16; ++d) sum += a_tile[y][d] * b_tile[d][x];
    __syncthreads();
  }
  if (row < n && column < m) c[static_cast<long long>(row) * m + column] = sum;
}
