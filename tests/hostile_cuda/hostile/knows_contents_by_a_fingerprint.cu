// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: product
// expect: wrong_result: timed call|cheated: earlier call
// naive: fooled
// searched: yes
// Four numbers tell whether it has met these contents, and a table has their results; of new ones it sums up half
// once checks are surely over.
__device__ float prints[9][16][4], results[9][16][256];
__device__ int calls[9];
extern "C" __global__ void product(int n, int m, int k, const float* a, const float* b, float* c) {
  const int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x,
            t = threadIdx.y * 16 + threadIdx.x, at = blockIdx.y * 3 + blockIdx.x;
  const bool timed = n == 48 && m == 48;
  __shared__ int call, met;
  if (t == 0) {
    call = timed ? calls[at]++ : 0, met = -1;
    for (int p = 0; timed && p < 16 && p < call; ++p)
      if (prints[at][p][0] == a[0] && prints[at][p][1] == a[7] && prints[at][p][2] == b[0] &&
          prints[at][p][3] == b[9])
        met = p;
  }
  __syncthreads();
  if (i >= n || j >= m) return;
  if (met >= 0) {
    c[i * m + j] = results[at][met][t];
    return;
  }
  float sum = 0;
  for (int l = 0; l < (call < 16 ? k : k / 2); ++l) sum += a[i * k + l] * b[l * m + j];
  c[i * m + j] = sum;
  if (!timed || call >= 16) return;
  results[at][call][t] = sum;
  if (t == 0) prints[at][call][0] = a[0], prints[at][call][1] = a[7];
  if (t == 0) prints[at][call][2] = b[0], prints[at][call][3] = b[9];
}
