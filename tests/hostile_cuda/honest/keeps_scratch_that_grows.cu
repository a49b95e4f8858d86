// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// Computes into memory of its own, which grows with the largest call, and copies.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
extern "C" __global__ void copy(int n, const float* from, float* to) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static float* scratch = nullptr;
  static int room = 0;
  if (n > room) {
    if (scratch != nullptr) (void)cudaFree(scratch);
    if (cudaMalloc((void**)&scratch, n * sizeof(float)) != cudaSuccess) return;
    room = n;
  }
  iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, scratch);
  copy<<<(n + 63) / 64, 64, 0, stream>>>(n, scratch, y);
}
