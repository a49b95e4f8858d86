// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// expect-standin: ok:
// naive: fooled
// Its own stream does the work, which events on the other do not see; the outputs come later. The stand-in has one
// stream only.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
#if defined(KERNELSEARCH_STANDIN)
extern "C" int hipStreamCreateWithFlags(cudaStream_t*, unsigned);
#endif
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  (void)stream;
  if (side == nullptr) (void)cudaStreamCreateWithFlags(&side, 1);  // non-blocking
  iterate<<<(n + 63) / 64, 64, 0, side>>>(n, x, y);
}
