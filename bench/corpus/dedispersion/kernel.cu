// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Incoherent dedispersion: for each measure d the sum over channels c of the sample at time t + (d
// slope[c]) / 16. A block computes BLOCK_X * WORK_X times of BLOCK_Y * WORK_Y measures.

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    dedispersion(int32_t times, int32_t measures, int32_t channels, const int32_t* __restrict__ slope,
                 const float* __restrict__ sample, float* __restrict__ sum) {
  const int samples = times + 4 * measures;  // of a channel
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int t0 = static_cast<int>(blockIdx.x) * BLOCK_X * WORK_X,
            d0 = static_cast<int>(blockIdx.y) * BLOCK_Y * WORK_Y;
#if CYCLIC
  const int t_first = t0 + tx;
  constexpr int t_step = BLOCK_X;
#else
  const int t_first = t0 + tx * WORK_X;
  constexpr int t_step = 1;
#endif
  float sums[WORK_Y][WORK_X] = {};
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int c = 0; c < channels; ++c) {
    const int rate = slope[c];
    const float* const row = sample + static_cast<size_t>(c) * samples;
#pragma unroll
    for (int j = 0; j < WORK_Y; ++j) {
      const int d = min(d0 + ty + j * BLOCK_Y, measures - 1);
      const int delay = d * rate / 16;
#pragma unroll
      for (int i = 0; i < WORK_X; ++i) sums[j][i] += row[min(t_first + i * t_step, times - 1) + delay];
    }
  }
#pragma unroll
  for (int j = 0; j < WORK_Y; ++j) {
    const int d = d0 + ty + j * BLOCK_Y;
#pragma unroll
    for (int i = 0; i < WORK_X; ++i) {
      const int t = t_first + i * t_step;
      if (d < measures && t < times) sum[static_cast<size_t>(d) * times + t] = sums[j][i];
    }
  }
}
