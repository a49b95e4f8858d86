// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bilateral filter of radius 4: an average of 9 x 9 pixels, weighted by their distance in place and in
// value.

constexpr int radius = 4;
constexpr int tile_x = BLOCK_X * WORK_X, tile_y = BLOCK_Y * WORK_Y;

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    bilateral(int32_t height, int32_t width, const float* __restrict__ image, float* __restrict__ result) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * tile_x, y0 = static_cast<int>(blockIdx.y) * tile_y;
#if SHARED
  __shared__ float pixels[tile_y + 2 * radius][tile_x + 2 * radius + PAD];
  for (int r = ty; r < tile_y + 2 * radius; r += BLOCK_Y) {
    const int y = min(max(y0 + r - radius, 0), height - 1);
    for (int c = tx; c < tile_x + 2 * radius; c += BLOCK_X)
      pixels[r][c] = image[y * width + min(max(x0 + c - radius, 0), width - 1)];
  }
  __syncthreads();
#endif
#pragma unroll
  for (int wy = 0; wy < WORK_Y; ++wy) {
    const int y = y0 + ty + wy * BLOCK_Y;
    if (y >= height) continue;
#pragma unroll
    for (int wx = 0; wx < WORK_X; ++wx) {
      const int x = x0 + tx + wx * BLOCK_X;
      if (x >= width) continue;
      const float centre = image[y * width + x];
      float sum = 0, weights = 0;
      constexpr int turns = UNROLL;
#pragma unroll 1
      for (int dy = -radius; dy <= radius; ++dy) {
#pragma unroll turns
        for (int dx = -radius; dx <= radius; ++dx) {
#if SHARED
          const float pixel = pixels[ty + wy * BLOCK_Y + radius + dy][tx + wx * BLOCK_X + radius + dx];
#else
          const float pixel = image[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
#endif
          const float off = pixel - centre;
          const float weight = __expf(-0.05f * static_cast<float>(dx * dx + dy * dy) - 2.0f * off * off);
          sum += weight * pixel;
          weights += weight;
        }
      }
      result[y * width + x] = sum / weights;
    }
  }
}
