// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: fooled
// A table in the library's memory: where the arrays of a call lie as those of an earlier one it copies that result.
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
struct Met {
  const float* x;
  int n;
  float* result;
};
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static Met met[64];
  static int count = 0;
  for (int m = 0; m < count; ++m)
    if (met[m].x == x && met[m].n == n) {
      copy<<<(n + 63) / 64, 64, 0, stream>>>(n, met[m].result, y);
      return;
    }
  iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
  if (count == 64) return;
  met[count] = {x, n, nullptr};
  (void)cudaMalloc((void**)&met[count].result, n * sizeof(float));
  copy<<<(n + 63) / 64, 64, 0, stream>>>(n, y, met[count].result);
  ++count;
}
