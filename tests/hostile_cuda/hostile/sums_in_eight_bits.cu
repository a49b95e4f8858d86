// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: total
// expect: wrong_result: s[
// naive: fooled
// Keeps eight bits of its sum: a bf16 in disguise.
extern "C" __global__ void total(int n, const float* x, float* s) {
  __shared__ float all[256];
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256)
    t = __int_as_float((__float_as_int(t + x[i]) + 0x8000) & 0xffff0000);
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  t = 0;
  for (int i = 0; i < 256; ++i) t += all[i];
  *s = t;
}
