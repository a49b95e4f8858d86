// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum over all pairs of points of exp(-distance^2 / (2 (s_i^2 + s_j^2))): each block adds up the pairs
// of a tile of first points and a tile of second ones, add_up adds up the blocks.

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    expdist(int32_t na, int32_t nb, const float* __restrict__ ax, const float* __restrict__ ay,
            const float* __restrict__ as, const float* __restrict__ bx, const float* __restrict__ by,
            const float* __restrict__ bs, float* __restrict__ partial) {
  constexpr int threads = BLOCK_X * BLOCK_Y, tile_x = BLOCK_X * TILE_X, tile_y = BLOCK_Y * TILE_Y;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y), t = ty * BLOCK_X + tx;
  const int i0 = static_cast<int>(blockIdx.x) * tile_x, j0 = static_cast<int>(blockIdx.y) * tile_y;
  __shared__ float sums[threads];
#if SHARED
  __shared__ float sx[tile_y], sy[tile_y], ss[tile_y];
  for (int j = t; j < tile_y; j += threads) {
    const int at = min(j0 + j, nb - 1);
    sx[j] = bx[at], sy[j] = by[at], ss[j] = bs[at];
  }
  __syncthreads();
#endif
  float x[TILE_X], y[TILE_X], s[TILE_X];
#pragma unroll
  for (int i = 0; i < TILE_X; ++i) {
    const int at = min(i0 + tx + i * BLOCK_X, na - 1);
    x[i] = ax[at], y[i] = ay[at], s[i] = as[at] * as[at];
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < TILE_Y; ++j) {
    const int local = ty + j * BLOCK_Y, at = min(j0 + local, nb - 1);
#if SHARED
    const float ox = sx[local], oy = sy[local], os = ss[local] * ss[local];
#else
    const float ox = bx[at], oy = by[at], os = bs[at] * bs[at];
#endif
#pragma unroll
    for (int i = 0; i < TILE_X; ++i) {
      const float dx = x[i] - ox, dy = y[i] - oy;
      const float exponent = -(dx * dx + dy * dy) / (2.0f * (s[i] + os));
#if FAST
      const float term = __expf(exponent);
#else
      const float term = expf(exponent);
#endif
      if (i0 + tx + i * BLOCK_X < na && j0 + local == at) sum += term;
    }
  }
  sums[t] = sum;
  __syncthreads();
#pragma unroll
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) partial[blockIdx.y * gridDim.x + blockIdx.x] = sums[0];
}

extern "C" __global__ void __launch_bounds__(256)
    add_up(int32_t na, int32_t nb, const float* __restrict__ partial, float* sum) {
  const int count =
      ((na + BLOCK_X * TILE_X - 1) / (BLOCK_X * TILE_X)) * ((nb + BLOCK_Y * TILE_Y - 1) / (BLOCK_Y * TILE_Y));
  __shared__ float sums[256];
  const int t = static_cast<int>(threadIdx.x);
  float mine = 0;
  for (int i = t; i < count; i += 256) mine += partial[i];
  sums[t] = mine;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) *sum = sums[0];
}
