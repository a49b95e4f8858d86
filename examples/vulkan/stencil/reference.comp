#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { real x[]; };
layout(binding = 1) writeonly buffer Y { real y[]; };
layout(push_constant) uniform Sizes { int n; real rate; };

void stencil_reference() {
  const int at = int(gl_GlobalInvocationID.x);
  if (at >= n * n * n) return;
  const int i = at % n, j = at / n % n, k = at / (n * n);
  real next = x[at];
  if (i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0 && k < n - 1)
    next += rate * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + x[at - n * n] + x[at + n * n] - real(6) * x[at]);
  y[at] = next;
}
