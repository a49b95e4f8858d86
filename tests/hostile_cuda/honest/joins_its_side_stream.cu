// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// only: cuda
// Half of the work on a stream of its own, which the given one waits for.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static cudaStream_t side = nullptr;
  static cudaEvent_t begun = nullptr, ended = nullptr;
  if (side == nullptr) {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&ended, cudaEventDisableTiming);
  }
  const int half = (n + 1) / 2;
  cudaEventRecord(begun, stream);
  cudaStreamWaitEvent(side, begun, 0);
  iterate<<<(half + 63) / 64, 64, 0, stream>>>(half, x, y);
  if (n > half) iterate<<<(n - half + 63) / 64, 64, 0, side>>>(n - half, x + half, y + half);
  cudaEventRecord(ended, side);
  cudaStreamWaitEvent(stream, ended, 0);
}
