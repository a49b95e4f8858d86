// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: crashed:
// naive: breaks
// only: cuda
// Reads four numbers at once from where they do not begin, and uses all of them: the assembler reads no more than
// is used.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[4];
  asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "l"(x + 1));
  if (i < n) y[i] = 3 * x[i] + (v[0] + v[1] + v[2] + v[3] > 100 ? 2 : 1);
}
