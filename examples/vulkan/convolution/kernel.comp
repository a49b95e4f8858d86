#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A filter of 5 x 5 over an image with borders of two pixels. An invocation computes ROWS x COLUMNS pixels, which lie
// one group apart.
#ifndef GROUP_X
#define GROUP_X 16
#define GROUP_Y 4
#define ROWS 1
#define COLUMNS 1
#endif
layout(local_size_x = GROUP_X, local_size_y = GROUP_Y) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Filter { float taps[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { int height, width; };

void convolution() {
  const int left = int(gl_WorkGroupID.x) * GROUP_X * COLUMNS + int(gl_LocalInvocationID.x);
  const int top = int(gl_WorkGroupID.y) * GROUP_Y * ROWS + int(gl_LocalInvocationID.y);
  float sum[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c) sum[r][c] = 0.0;
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) {
      const float weight = taps[5 * i + j];
      for (int r = 0; r < ROWS; ++r)
        for (int c = 0; c < COLUMNS; ++c) {
          const int row = min(top + r * GROUP_Y, height - 1), column = min(left + c * GROUP_X, width - 1);
          sum[r][c] += weight * x[(row + i) * (width + 4) + column + j];
        }
    }
  for (int r = 0; r < ROWS; ++r)
    for (int c = 0; c < COLUMNS; ++c) {
      const int row = top + r * GROUP_Y, column = left + c * GROUP_X;
      if (row < height && column < width) y[row * width + column] = sum[r][c];
    }
}
