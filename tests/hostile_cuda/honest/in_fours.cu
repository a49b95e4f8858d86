// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// Vectors of four where they fit, single elements at the end.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int fours = n / 4;
  if (i < fours) {
    const float4 v = ((const float4*)x)[i];
    ((float4*)y)[i] = make_float4(3 * v.x + 1, 3 * v.y + 1, 3 * v.z + 1, 3 * v.w + 1);
  }
  if (i < n - 4 * fours) y[4 * fours + i] = 3 * x[4 * fours + i] + 1;
}
