// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four steps of a chip's temperature, STEPS of them in a launch: a block reads its tile with a border of
// STEPS cells and computes a cell less at each side in every step.

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    hotspot(int32_t height, int32_t width, const float* __restrict__ power, const float* __restrict__ from,
            float* __restrict__ to) {
  constexpr int tile_x = BLOCK_X * WORK_X, tile_y = BLOCK_Y * WORK_Y;
  constexpr int columns = tile_x + 2 * STEPS, rows = tile_y + 2 * STEPS;
  __shared__ float cells[STEPS > 1 ? 2 : 1][rows][columns];
#if POWER_SHARED
  __shared__ float powers[rows][columns];
#endif
  const int x0 = static_cast<int>(blockIdx.x) * tile_x - STEPS,
            y0 = static_cast<int>(blockIdx.y) * tile_y - STEPS;
  for (int r = static_cast<int>(threadIdx.y); r < rows; r += BLOCK_Y) {
    const int y = min(max(y0 + r, 0), height - 1);
    for (int c = static_cast<int>(threadIdx.x); c < columns; c += BLOCK_X) {
      const int x = min(max(x0 + c, 0), width - 1);
      cells[0][r][c] = from[y * width + x];
#if POWER_SHARED
      powers[r][c] = power[y * width + x];
#endif
    }
  }
  __syncthreads();
#pragma unroll
  for (int step = 1; step <= STEPS; ++step) {
    const auto& now = cells[(step - 1) % 2];
    for (int r = step + static_cast<int>(threadIdx.y); r < rows - step; r += BLOCK_Y) {
      const int y = y0 + r;
      if (y < 0 || y >= height) continue;
      for (int c = step + static_cast<int>(threadIdx.x); c < columns - step; c += BLOCK_X) {
        const int x = x0 + c;
        if (x < 0 || x >= width) continue;
        const float mid = now[r][c];
        const float north = y > 0 ? now[r - 1][c] : mid, south = y < height - 1 ? now[r + 1][c] : mid;
        const float west = x > 0 ? now[r][c - 1] : mid, east = x < width - 1 ? now[r][c + 1] : mid;
#if POWER_SHARED
        const float heat = powers[r][c];
#else
        const float heat = power[y * width + x];
#endif
        const float next = mid + 0.2f * (north + south - 2.0f * mid) + 0.15f * (east + west - 2.0f * mid) +
                           0.01f * (0.5f - mid) + 0.1f * heat;
        if (step == STEPS)
          to[y * width + x] = next;
        else
          cells[step % 2][r][c] = next;
      }
    }
    __syncthreads();
  }
}
