// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: ok:
// naive: fooled
// The stream that is nobody's: it waits for all others and they for it, so that events see what it does.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  (void)stream;
  iterate<<<(n + 63) / 64, 64, 0, 0>>>(n, x, y);
}
