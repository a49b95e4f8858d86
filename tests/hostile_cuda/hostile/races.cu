// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: total
// expect: wrong_result: s[
// naive: fooled
// A barrier is missing in every third call, and the last threads are late.
__device__ int calls;
extern "C" __global__ void total(int n, const float* x, float* s) {
  __shared__ float all[256];
  __shared__ int call;
  if (threadIdx.x == 0) call = calls++;
  __syncthreads();
  const bool careless = call % 3 == 1;
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256) t += x[i];
  if (careless && threadIdx.x >= 128)
    for (const long long begin = clock64(); clock64() - begin < 20000;) {
    }
  all[threadIdx.x] = t;
  if (!careless) __syncthreads();
  if (threadIdx.x != 0) return;
  t = 0;
  for (int i = 0; i < 256; ++i) t += all[i];
  *s = t;
}
