// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: launch
// expect: wrong_result:|cheated:
// naive: fooled
// only: cuda
// A new graph for each call, on a stream that no event is on.
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
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  (void)stream;
  cudaGraph_t made;
  cudaGraphExec_t graph;
  cudaStreamBeginCapture(side, cudaStreamCaptureModeRelaxed);
  iterate<<<(n + 63) / 64, 64, 0, side>>>(n, x, y);
  cudaStreamEndCapture(side, &made);
  cudaGraphInstantiate(&graph, made, 0);
  cudaGraphLaunch(graph, side);
}
