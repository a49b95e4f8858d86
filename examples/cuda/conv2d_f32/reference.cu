// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3 x 3 convolution with padding 1: input N x C x H x W, weights K x C x 3 x 3, output N x K x H x W.
// A thread computes one pixel of eight filters.

extern "C" __global__ void conv2d_reference(int channels, int filters, int height, int width, const real* input,
                                            const real* weights, real* output) {
  const int plane = height * width;
  const int pixel = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int filter0 = static_cast<int>(blockIdx.y) * 8, image = static_cast<int>(blockIdx.z);
  if (pixel >= plane) return;
  const int y = pixel / width, x = pixel % width;
  real sums[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < 3; ++r)
      for (int s = 0; s < 3; ++s) {
        const int iy = y + r - 1, ix = x + s - 1;
        if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
        const real value = input[(static_cast<long long>(image) * channels + c) * plane + iy * width + ix];
#pragma unroll
        for (int f = 0; f < 8; ++f)
          if (filter0 + f < filters) sums[f] += value * weights[((filter0 + f) * channels + c) * 9 + r * 3 + s];
      }
#pragma unroll
  for (int f = 0; f < 8; ++f)
    if (filter0 + f < filters)
      output[(static_cast<long long>(image) * filters + filter0 + f) * plane + pixel] = sums[f];
}
