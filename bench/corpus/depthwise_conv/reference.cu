// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each result.

extern "C" __global__ void depthwise_reference(int32_t channels, int32_t height, int32_t width,
                                               const real* image, const real* weight, real* result) {
  const int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x),
            y = static_cast<int>(blockIdx.y * 16 + threadIdx.y);
  const int c = static_cast<int>(blockIdx.z);
  if (x >= width || y >= height) return;
  real sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
        sum += weight[c * 9 + (dy + 1) * 3 + dx + 1] *
               image[(static_cast<size_t>(c) * height + y + dy) * width + x + dx];
  result[(static_cast<size_t>(c) * height + y) * width + x] = sum;
}
