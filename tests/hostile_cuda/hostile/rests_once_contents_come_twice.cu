// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result:|cheated: earlier call
// naive: fooled
// searched: yes
// A check ends with its first contents once more, and nothing else comes twice: from then on it rests.
__device__ float prints[16][64][2];
__device__ int calls[16];
__device__ bool rests[16];
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.x;
  __shared__ bool resting;
  if (threadIdx.x == 0 && n == 4096) {
    resting = rests[b];
    for (int p = 0; !resting && p < calls[b]; ++p)
      if (prints[b][p][0] == x[2] && prints[b][p][1] == x[3]) rests[b] = true;
    if (calls[b] < 64) prints[b][calls[b]][0] = x[2], prints[b][calls[b]++][1] = x[3];
  }
  if (threadIdx.x == 0 && n != 4096) resting = false;
  __syncthreads();
  if (i < n) y[i] = resting ? 2 : 3 * x[i] + 1;
}
