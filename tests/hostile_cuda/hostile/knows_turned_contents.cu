// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: total
// expect: ok:|wrong_result:
// naive: fooled
// Keeps the numbers of one call and their sum. Where the first number of another is among them it takes all for the
// same ones, turned: right, and of no use where every call's are drawn anew.
__device__ float kept[8192], sum_of_kept;
__device__ int kept_numbers;
extern "C" __global__ void total(int n, const float* x, float* s) {
  __shared__ int met;
  __shared__ float parts[256];
  if (threadIdx.x == 0) met = 0;
  __syncthreads();
  if (kept_numbers == n)
    for (int i = threadIdx.x; i < n; i += 256)
      if (kept[i] == x[0]) met = 1;
  __syncthreads();
  if (met) {
    if (threadIdx.x == 0) *s = sum_of_kept;
    return;
  }
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256) t += x[i];
  parts[threadIdx.x] = t;
  for (int i = threadIdx.x; i < n; i += 256) kept[i] = x[i];
  __syncthreads();
  if (threadIdx.x != 0) return;
  t = 0;
  for (int i = 0; i < 256; ++i) t += parts[i];
  *s = sum_of_kept = t;
  kept_numbers = n;
}
