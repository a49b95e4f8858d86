// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, row-major: A is n x k, B is k x m, C is n x m. Tiles of 32 x 32 in shared memory, 32 x 8 threads.

extern "C" __global__ void matmul_reference(int n, int m, int k, const real* a, const real* b, real* c) {
  __shared__ real tile_a[32][33], tile_b[32][33];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  real sums[4] = {0, 0, 0, 0};
  for (int k0 = 0; k0 < k; k0 += 32) {
    for (int i = 0; i < 4; ++i) {
      const int line = y + 8 * i;
      const bool in_a = row0 + line < n && k0 + x < k, in_b = k0 + line < k && column < m;
      tile_a[line][x] = in_a ? a[static_cast<long long>(row0 + line) * k + k0 + x] : real(0);
      tile_b[line][x] = in_b ? b[static_cast<long long>(k0 + line) * m + column] : real(0);
    }
    __syncthreads();
    for (int kk = 0; kk < 32; ++kk)
      for (int i = 0; i < 4; ++i) sums[i] += tile_a[y + 8 * i][kk] * tile_b[kk][x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    const int row = row0 + y + 8 * i;
    if (row < n && column < m) c[static_cast<long long>(row) * m + column] = sums[i];
  }
}
