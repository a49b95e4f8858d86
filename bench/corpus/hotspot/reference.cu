// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four steps by one thread for each cell, from the cells within four steps of it.

extern "C" __global__ void hotspot_reference(int32_t height, int32_t width, const real* power,
                                             const real* start, real* end) {
  const int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 16 + threadIdx.y);
  if (x >= width || y >= height) return;
  real cells[9][9], next[9][9];
  for (int r = 0; r < 9; ++r)
    for (int c = 0; c < 9; ++c)
      cells[r][c] = start[min(max(y + r - 4, 0), height - 1) * width + min(max(x + c - 4, 0), width - 1)];
  for (int step = 1; step <= 4; ++step) {
    for (int r = step; r < 9 - step; ++r)
      for (int c = step; c < 9 - step; ++c) {
        const int cy = y + r - 4, cx = x + c - 4;
        if (cy < 0 || cy >= height || cx < 0 || cx >= width) continue;
        const real mid = cells[r][c];
        const real north = cy > 0 ? cells[r - 1][c] : mid, south = cy < height - 1 ? cells[r + 1][c] : mid;
        const real west = cx > 0 ? cells[r][c - 1] : mid, east = cx < width - 1 ? cells[r][c + 1] : mid;
        next[r][c] = mid + real(0.2) * (north + south - 2 * mid) + real(0.15) * (east + west - 2 * mid) +
                     real(0.01) * (real(0.5) - mid) + real(0.1) * power[cy * width + cx];
      }
    for (int r = step; r < 9 - step; ++r)
      for (int c = step; c < 9 - step; ++c) cells[r][c] = next[r][c];
  }
  end[y * width + x] = cells[4][4];
}
