// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: fooled
// only: cuda
// A stream of its own does the work; the one that is timed waits for it in the next call.
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
  } else {
    cudaStreamWaitEvent(stream, ended, 0);
  }
  cudaEventRecord(begun, stream);
  cudaStreamWaitEvent(side, begun, 0);
  iterate<<<(n + 63) / 64, 64, 0, side>>>(n, x, y);
  cudaEventRecord(ended, side);
}
