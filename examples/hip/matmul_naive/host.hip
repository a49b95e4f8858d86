// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what the problem declares, in that order, and the stream to launch on.
void launch_matmul(int n, int m, int k, const float* a, const float* b, float* c, hipStream_t stream) {
  const dim3 block(BLOCK_X, BLOCK_Y), grid((m + BLOCK_X - 1) / BLOCK_X, (n + BLOCK_Y - 1) / BLOCK_Y);
  matmul<<<grid, block, 0, stream>>>(n, m, k, a, b, c);
}
