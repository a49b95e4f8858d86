// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of sm90_exponentials.nvdisasm: the ways to an exponential, from the exact one to a bare instruction.
extern "C" __global__ void exact(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = expf(x[i] - 1.5f) + y[i];
}
extern "C" __global__ void fast(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = __expf(x[i] - 1.5f) + y[i];
}
extern "C" __global__ void scaled(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += 256) y[i] = exp2f(fmaf(x[i], y[0], -1.5f)) + y[i];
}
extern "C" __global__ void raw(int n, const float* x, float* y) {
  for (int i = threadIdx.x; i < n; i += 256) {
    float v = fmaf(x[i], y[0], -1.5f);
    asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(v));
    y[i] = v + y[i];
  }
}
