// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: |crashed:
// naive: fooled
// naive-standin: breaks
// Looks for an array that holds the right result already, which a harness may have put beside its output.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = n / 128; step < 512; ++step) {
    const float* e = y + step * 128;
    bool is = true;
    for (int j = 0; j < 4; ++j) is = is && e[j] == 3 * x[j] + 1;
    if (!is) continue;
    if (i < n) y[i] = e[i];
    return;
  }
  if (i < n) y[i] = 0;
}
