// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: roots
// Newton's steps until one changes nothing; threads of a warp wait for their slowest.
extern "C" __global__ void roots(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float r = x[i];
  for (int step = 0; step < 200 && r != 0; ++step) {
    const float next = r - (r - x[i] / (r * r)) / 3;
    const bool same = fabsf(next - r) <= 1e-6f * fabsf(next);
    r = next;
    if (same) break;
  }
  y[i] = r;
}
