// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: either
// only: cuda
// One graph does the work of two calls side by side, in the second of them; the first returns at once.
extern "C" __global__ void iterate(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t = 0;
  for (int s = 0; s < 50000; ++s) t = t * 0.9999f + 1e-4f * x[i];
  y[i] = t;
}
// host:
void run(int n, const float* x, float* y, cudaStream_t stream) {
  static int waiting_n = 0, calls = 0;
  static const float* waiting_x = nullptr;
  static float* waiting_y = nullptr;
  static cudaStream_t one = nullptr, two = nullptr;
  static cudaEvent_t begun = nullptr, ended = nullptr;
  if (++calls <= 12) {
    iterate<<<(n + 63) / 64, 64, 0, stream>>>(n, x, y);
    return;
  }
  if (waiting_n != n) {
    waiting_n = n;
    waiting_x = x;
    waiting_y = y;
    return;
  }
  if (one == nullptr) {
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&ended, cudaEventDisableTiming);
  }
  cudaGraph_t made;
  cudaGraphExec_t graph;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed);
  cudaEventRecord(begun, one);
  cudaStreamWaitEvent(two, begun, 0);
  iterate<<<(n + 63) / 64, 64, 0, one>>>(n, x, y);
  iterate<<<(n + 63) / 64, 64, 0, two>>>(waiting_n, waiting_x, waiting_y);
  cudaEventRecord(ended, two);
  cudaStreamWaitEvent(one, ended, 0);
  cudaStreamEndCapture(one, &made);
  cudaGraphInstantiate(&graph, made, 0);
  cudaGraphLaunch(graph, stream);
  waiting_n = 0;
}
