// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// Two launches on the stream that it is given, with a size that is computed on the host.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  const int half = (n + 1) / 2;
  iterate<<<(half + 31) / 32, 32, 0, stream>>>(half, x, y);
  if (n > half) iterate<<<(n - half + 31) / 32, 32, 0, stream>>>(n - half, x + half, y + half);
}
