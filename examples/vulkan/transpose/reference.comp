#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { real x[]; };
layout(binding = 1) writeonly buffer Y { real y[]; };
layout(push_constant) uniform Sizes { int rows, columns; };

void transpose_reference() {
  const int i = int(gl_GlobalInvocationID.x);
  if (i < rows * columns) y[(i % columns) * rows + i / columns] = x[i];
}
