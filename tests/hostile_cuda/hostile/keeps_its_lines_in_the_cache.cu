// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: ok:
// naive: fooled
// only: cuda
// Asks the second-level cache to keep what it read: honest, but flushing alone would not undo it.
extern "C" __global__ void scale(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float v = 0;
  if (i < n) asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + i), "l"(policy));
  if (i < n) y[i] = 3 * v + 1;
}
