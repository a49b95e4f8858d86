// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what the problem declares, in that order, and the stream to launch on.
void launch_matmul(int n, int m, int k, const __half* a, const __half* b, __half* c, cudaStream_t stream) {
  const dim3 block(BLOCK_X, BLOCK_Y), grid((m + BLOCK_X - 1) / BLOCK_X, (n + BLOCK_Y - 1) / BLOCK_Y);
  matmul<<<grid, block, 0, stream>>>(n, m, k, a, b, c);
}
