#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of the heat equation in three dimensions: a cell and its six neighbours, borders stay. An invocation goes
// LAYERS layers up and, with KEPT, keeps the cells above and below of its column.
#ifndef GROUP_X
#define GROUP_X 16
#define GROUP_Y 4
#define LAYERS 1
#define KEPT 0
#endif
layout(local_size_x = GROUP_X, local_size_y = GROUP_Y) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { int n; float rate; };

void stencil() {
  const int i = int(gl_GlobalInvocationID.x), j = int(gl_GlobalInvocationID.y);
  const int bottom = int(gl_WorkGroupID.z) * LAYERS;
  if (i >= n || j >= n) return;
  const int layer = n * n, column = j * n + i;
  const bool inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
#if KEPT
  float below = x[max(bottom - 1, 0) * layer + column], here = x[bottom * layer + column];
#endif
  for (int l = 0; l < LAYERS; ++l) {
    const int k = bottom + l;
    if (k >= n) return;
    const int at = k * layer + column;
#if KEPT
    const float above = x[min(k + 1, n - 1) * layer + column];
#else
    const float here = x[at];
    const float below = x[max(k - 1, 0) * layer + column], above = x[min(k + 1, n - 1) * layer + column];
#endif
    float next = here;
    if (inside && k > 0 && k < n - 1)
      next += rate * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + below + above - 6.0 * here);
    y[at] = next;
#if KEPT
    below = here;
    here = above;
#endif
  }
}
