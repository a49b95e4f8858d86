// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void launch_silu(int n, const __half* x, __half* y, cudaStream_t stream) {
  silu<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>(n, x, y);
}
