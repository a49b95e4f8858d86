// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block for each segment.

extern "C" __global__ void segment_sums_reference(int32_t count, int32_t entries, const int32_t* start,
                                                  const real* value, real* result) {
  __shared__ real parts[64];
  const int t = static_cast<int>(threadIdx.x), segment = static_cast<int>(blockIdx.x);
  real sum = 0;
  for (int i = start[segment] + t; i < start[segment + 1]; i += 64) sum += value[i];
  parts[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0) result[segment] = parts[0];
}
