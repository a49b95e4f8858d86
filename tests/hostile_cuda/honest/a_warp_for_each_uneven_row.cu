// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: uneven
// Long rows take long, empty ones nothing.
extern "C" __global__ void uneven(int rows, const int* start, const int* column, const float* value, const float* x,
                                  float* y) {
  __shared__ float all[32];
  const int i = blockIdx.x;
  float t = 0;
  for (int e = start[i] + threadIdx.x; e < start[i + 1]; e += 32) t += value[e] * x[column[e]];
  all[threadIdx.x] = t;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int k = 1; k < 32; ++k) t += all[k];
  y[i] = t;
}
