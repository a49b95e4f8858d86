// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale_threads
// expect: launch_failed:
// naive: fooled
// Its launch fails, which leaves a right result that was there.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = i; j < n; j += blockDim.x) y[j] = 3 * x[j] + 1;
}
