// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each point.

extern "C" __global__ void mandelbrot_reference(int32_t height, int32_t width, const int32_t* re,
                                                const int32_t* im, int32_t* turns) {
  const int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 16 + threadIdx.y);
  if (x >= width || y >= height) return;
  int64_t u = 0, v = 0;
  int count = 0;
  while (count < 128) {
    const int64_t uu = (u * u) >> 25, vv = (v * v) >> 25;
    if (uu + vv > (int64_t(4) << 25)) break;
    v = 2 * ((u * v) >> 25) + im[y];
    u = uu - vv + re[x];
    ++count;
  }
  turns[static_cast<size_t>(y) * width + x] = count;
}
