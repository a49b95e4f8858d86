// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: fooled
// Each call launches what the call before should have computed.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static int last_n = 0;
  static const float* last_x = nullptr;
  static float* last_y = nullptr;
  if (last_n == 0 || last_n != n)
    iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
  else
    iterate<<<(last_n + 63) / 64, 64, 0, stream>>>(last_n, last_x, last_y);
  last_n = n;
  last_x = x;
  last_y = y;
}
