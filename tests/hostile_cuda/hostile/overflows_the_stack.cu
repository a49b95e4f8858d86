// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: crashed:
// naive: breaks
// Calls itself without end.
__device__ __noinline__ int deeper(volatile int* at, int depth) {
  volatile int room[64];
  room[depth % 64] = depth;
  return depth < 0 ? 0 : deeper(at, depth + 1) + room[(depth + 1) % 64] + *at;
}
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int zero = 0;
  if (i < n) y[i] = 3 * x[i] + deeper(&zero, 1);
}
