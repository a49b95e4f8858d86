// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x, A of bytes with a scale for every 32 of a row. LANES threads share a row, each has ROWS of them
// and reads BYTES bytes at a time.

constexpr int group = 32;

struct alignas(BYTES) Pack {
  int8_t v[BYTES];
};

extern "C" __global__ void __launch_bounds__(THREADS)
    matvec_i8(int32_t rows, int32_t columns, const int8_t* __restrict__ a, const float* __restrict__ scale,
              const float* __restrict__ x, float* __restrict__ y) {
  constexpr int side = THREADS / LANES;  // rows at a time
  const int lane = static_cast<int>(threadIdx.x) % LANES, first = static_cast<int>(blockIdx.x) * side * ROWS;
  const int at = first + static_cast<int>(threadIdx.x) / LANES;
#if X_SHARED
  __shared__ float kept[4096];
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += THREADS) kept[i] = x[i];
  __syncthreads();
  const float* const from = kept;
#else
  const float* const from = x;
#endif
  float sum[ROWS] = {};
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int k = lane * BYTES; k < columns; k += LANES * BYTES) {
    float with[BYTES];
#pragma unroll
    for (int v = 0; v < BYTES; ++v) with[v] = from[k + v];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = min(at + r * side, rows - 1);
      const Pack pack = *reinterpret_cast<const Pack*>(a + static_cast<size_t>(row) * columns + k);
      float part = 0;
#pragma unroll
      for (int v = 0; v < BYTES; ++v) part += static_cast<float>(pack.v[v]) * with[v];
      sum[r] += part * scale[row * (columns / group) + k / group];
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], mask);
    if (lane == 0 && at + r * side < rows) y[at + r * side] = sum[r];
  }
}
