// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what the problem declares, in that order, and the stream to launch on.
void launch_matmul(int n, int m, int k, const float* a, const float* b, float* c, float* partial,
                   cudaStream_t stream) {
  const dim3 grid((m + TILE_N - 1) / TILE_N, (n + TILE_M - 1) / TILE_M, K_SPLITS);
  matmul<<<grid, THREADS, 0, stream>>>(n, m, k, a, b, K_SPLITS > 1 ? partial : c);
  if (K_SPLITS > 1) add_parts<<<((size_t)n * m + 255) / 256, 256, 0, stream>>>(n, m, partial, c);
}
