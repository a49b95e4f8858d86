// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolution of 16 signals with 32 filters of 7 taps. A thread computes WORK_T times of WORK_C results,
// which share the samples it has read.

constexpr int inputs = 16, outputs = 32, taps = 7, tile = THREADS * WORK_T;

extern "C" __global__ void __launch_bounds__(THREADS)
    conv1d(int32_t length, const float* __restrict__ signal, const float* __restrict__ filter,
           float* __restrict__ result) {
  const int samples = length + taps - 1;  // of a signal
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * tile;
  const int channel = static_cast<int>(blockIdx.y) * WORK_C;
#if FILTER_SHARED
  __shared__ float weights[WORK_C * inputs * taps];
  for (int i = t; i < WORK_C * inputs * taps; i += THREADS) weights[i] = filter[channel * inputs * taps + i];
  __syncthreads();
  const float* const from = weights;
#else
  const float* const from = filter + channel * inputs * taps;
#endif
#if SIGNAL_SHARED
  __shared__ float kept[tile + taps - 1];
#endif
  float sum[WORK_C][WORK_T] = {};
  constexpr int turns = UNROLL_IN, tap_turns = UNROLL_TAPS;
#pragma unroll turns
  for (int c = 0; c < inputs; ++c) {
    const float* const row = signal + static_cast<size_t>(c) * samples;
#if SIGNAL_SHARED
    __syncthreads();
    for (int i = t; i < tile + taps - 1; i += THREADS) kept[i] = row[min(first + i, samples - 1)];
    __syncthreads();
#endif
#pragma unroll tap_turns
    for (int k = 0; k < taps; ++k) {
      float at[WORK_T];
#pragma unroll
      for (int w = 0; w < WORK_T; ++w) {
#if SIGNAL_SHARED
        at[w] = kept[t + w * THREADS + k];
#else
        at[w] = row[min(first + t + w * THREADS + k, samples - 1)];
#endif
      }
#pragma unroll
      for (int o = 0; o < WORK_C; ++o) {
        const float weight = from[(o * inputs + c) * taps + k];
#pragma unroll
        for (int w = 0; w < WORK_T; ++w) sum[o][w] += weight * at[w];
      }
    }
  }
#pragma unroll
  for (int o = 0; o < WORK_C; ++o)
#pragma unroll
    for (int w = 0; w < WORK_T; ++w) {
      const int i = first + t + w * THREADS;
      if (i < length) result[static_cast<size_t>(channel + o) * length + i] = sum[o][w];
    }
}
