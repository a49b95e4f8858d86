// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void launch_matmul(int n, int m, int k, const float* a, const float* b, float* c, cudaStream_t stream) {
  const dim3 block(BDX, BDY), grid((m + TILE_N - 1) / TILE_N, (n + TILE_M - 1) / TILE_M);
  matmul<<<grid, block, 0, stream>>>(n, m, k, a, b, c);
}
