// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// Blocks take pieces of 64 by a counter until there are no more; the last block to end sets it back.
__device__ int next_piece, blocks_done;
extern "C" __global__ void scale(int n, const float* x, float* y) {
  __shared__ int piece;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) piece = atomicAdd(&next_piece, 1);
    __syncthreads();
    if (piece * 64 >= n) break;
    const int i = piece * 64 + threadIdx.x;
    if (threadIdx.x < 64 && i < n) y[i] = 3 * x[i] + 1;
  }
  if (threadIdx.x != 0) return;
  if (atomicAdd(&blocks_done, 1) == (int)gridDim.x - 1) {
    blocks_done = 0;
    atomicExch(&next_piece, 0);
  }
}
