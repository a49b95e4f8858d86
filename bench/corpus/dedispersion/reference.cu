// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each time of a measure.

extern "C" __global__ void dedispersion_reference(int32_t times, int32_t measures, int32_t channels,
                                                  const int32_t* slope, const real* sample, real* sum) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), d = static_cast<int>(blockIdx.y);
  if (t >= times) return;
  real total = 0;
  for (int c = 0; c < channels; ++c)
    total += sample[static_cast<size_t>(c) * (times + 4 * measures) + t + d * slope[c] / 16];
  sum[static_cast<size_t>(d) * times + t] = total;
}
