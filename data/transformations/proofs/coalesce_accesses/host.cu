// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void launch_transpose(int n, int m, const float* a, float* b, cudaStream_t stream) {
  const dim3 block(BLOCK_X, BLOCK_Y), grid((m + BLOCK_X - 1) / BLOCK_X, (n + BLOCK_Y - 1) / BLOCK_Y);
  transpose<<<grid, block, 0, stream>>>(n, m, a, b);
}
