#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { real x[]; };
layout(binding = 1) writeonly buffer Total { real total[]; };
layout(push_constant) uniform Sizes { int n; };
shared real sums[64];

void reduction_reference() {
  const int me = int(gl_LocalInvocationID.x);
  real own = 0;
  for (int i = me; i < n; i += 64) own += x[i];
  sums[me] = own;
  barrier();
  if (me != 0) return;
  real sum = 0;
  for (int i = 0; i < 64; ++i) sum += sums[i];
  total[0] = sum;
}
