// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, row-major, one element a thread, by tiles of 32 x 32 in shared memory. The last two parameters are
// those that Triton's kernels have for scratch memory.

extern "C" __global__ void matmul_reference(const real* a, const real* b, real* c, int n, int m, int k,
                                            int64_t, int64_t) {
  __shared__ real tile_a[32][33], tile_b[32][33];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = 32 * blockIdx.y + y, column = 32 * blockIdx.x + x;
  real total = 0;
  for (int start = 0; start < k; start += 32) {
    tile_a[y][x] = row < n && start + x < k ? a[static_cast<size_t>(row) * k + start + x] : real(0);
    tile_b[y][x] = start + y < k && column < m ? b[static_cast<size_t>(start + y) * m + column] : real(0);
    __syncthreads();
    for (int i = 0; i < 32; ++i) total += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < n && column < m) c[static_cast<size_t>(row) * m + column] = total;
}
