// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: iterations
// expect: wrong_result:|cheated:|ok:
// naive: fooled
// gain: none
// Numbers of a generator with their results stay in device memory: right, and quick where contents come again.
__device__ float seen[4096], results[4096];
__device__ bool known[4096];
extern "C" __global__ void iterations(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i < 4096 && known[i] && seen[i] == x[i]) {
    y[i] = results[i];
    return;
  }
  float t = 0;
  for (int s = 0; s < 2000; ++s) t = t * 0.999f + 1e-3f * x[i];
  y[i] = t;
  if (i >= 4096) return;
  seen[i] = x[i];
  results[i] = t;
  known[i] = true;
}
