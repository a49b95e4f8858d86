// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result: timed call|cheated:
// naive: fooled
// Counts its calls on the host; after twelve it launches a kernel that guesses.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
extern "C" __global__ void guess(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static int calls = 0;
  if (++calls <= 12)
    iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
  else
    guess<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
}
