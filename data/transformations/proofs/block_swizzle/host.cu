// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void launch_matmul(int n, int m, int k, const float* a, const float* b, float* c, cudaStream_t stream) {
  matmul<<<TILES_M * TILES_N, dim3(BDX, BDY), 0, stream>>>(n, m, k, a, b, c);
}
