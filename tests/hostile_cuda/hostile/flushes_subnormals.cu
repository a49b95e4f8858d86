// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: subnormals
// expect: wrong_result:
// naive: fooled
// only: cuda
// Instructions that take numbers near the smallest for 0.
extern "C" __global__ void subnormals(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float t;
  asm("mul.ftz.f32 %0, %1, %2;" : "=f"(t) : "f"(x[i]), "f"(0.75f));
  y[i] = t;
}
