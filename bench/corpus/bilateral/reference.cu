// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each pixel.

extern "C" __global__ void bilateral_reference(int32_t height, int32_t width, const real* image,
                                               real* result) {
  const int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 16 + threadIdx.y);
  if (x >= width || y >= height) return;
  const real centre = image[y * width + x];
  real sum = 0, weights = 0;
  for (int dy = -4; dy <= 4; ++dy)
    for (int dx = -4; dx <= 4; ++dx) {
      const real pixel = image[min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)];
      const real off = pixel - centre;
      const real weight = exp(real(-0.05) * (dx * dx + dy * dy) - 2 * off * off);
      sum += weight * pixel;
      weights += weight;
    }
  result[y * width + x] = sum / weights;
}
