#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
layout(local_size_x = 16, local_size_y = 4) in;
layout(binding = 0) readonly buffer X { real x[]; };
layout(binding = 1) readonly buffer Filter { real taps[]; };
layout(binding = 2) writeonly buffer Y { real y[]; };
layout(push_constant) uniform Sizes { int height, width; };

void convolution_reference() {
  const int column = int(gl_GlobalInvocationID.x), row = int(gl_GlobalInvocationID.y);
  if (row >= height || column >= width) return;
  real sum = 0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) sum += taps[5 * i + j] * x[(row + i) * (width + 4) + column + j];
  y[row * width + column] = sum;
}
