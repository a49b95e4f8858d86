// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depthwise convolution: every channel of an image with 3 x 3 weights of its own. A block goes over
// CHANNELS channels of its tile, one after another.

constexpr int tile_x = BLOCK_X * WORK_X, tile_y = BLOCK_Y * WORK_Y;

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    depthwise_conv(int32_t channels, int32_t height, int32_t width, const float* __restrict__ image,
                   const float* __restrict__ weight, float* __restrict__ result) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * tile_x, y0 = static_cast<int>(blockIdx.y) * tile_y;
#if SHARED
  __shared__ float kept[tile_y + 2][tile_x + 2];
#endif
#pragma unroll 1
  for (int c = static_cast<int>(blockIdx.z) * CHANNELS;
       c < min(channels, static_cast<int>(blockIdx.z + 1) * CHANNELS); ++c) {
    const float* const from = image + static_cast<size_t>(c) * height * width;
    float w[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) w[i] = weight[c * 9 + i];
#if SHARED
    __syncthreads();
    for (int r = ty; r < tile_y + 2; r += BLOCK_Y) {
      const int y = y0 + r - 1;
      for (int k = tx; k < tile_x + 2; k += BLOCK_X) {
        const int x = x0 + k - 1;
        kept[r][k] = x >= 0 && x < width && y >= 0 && y < height ? from[y * width + x] : 0.0f;
      }
    }
    __syncthreads();
#endif
#pragma unroll
    for (int wy = 0; wy < WORK_Y; ++wy) {
      // Threads take neighbouring rows or, with ROWS_TOGETHER, each takes rows in a row.
      const int ly = ROWS_TOGETHER ? ty * WORK_Y + wy : ty + wy * BLOCK_Y, y = y0 + ly;
#pragma unroll
      for (int wx = 0; wx < WORK_X; ++wx) {
        const int lx = tx + wx * BLOCK_X, x = x0 + lx;
        float sum = 0;
#pragma unroll
        for (int dy = 0; dy < 3; ++dy)
#pragma unroll
          for (int dx = 0; dx < 3; ++dx) {
#if SHARED
            sum += w[dy * 3 + dx] * kept[ly + dy][lx + dx];
#else
            const int sy = y + dy - 1, sx = x + dx - 1;
            if (sx >= 0 && sx < width && sy >= 0 && sy < height)
              sum += w[dy * 3 + dx] * from[sy * width + sx];
#endif
          }
        if (x < width && y < height) result[(static_cast<size_t>(c) * height + y) * width + x] = sum;
      }
    }
  }
}
