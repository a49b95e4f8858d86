#version 450
// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of n numbers in two kernels: `partial_sums` gives one of each of GROUPS work groups, `last_sum` their sum.
// GROUP_SIZE is a specialisation constant: other values of it take no other compilation.
#ifndef GROUPS
#define GROUPS 64
#define UNROLL 4
#endif
layout(constant_id = 0) const uint GROUP_SIZE = 64;
layout(local_size_x_id = 0) in;
layout(push_constant) uniform Sizes { int n; };
shared float sums[GROUP_SIZE];

float sum_of_group(float own) {
  const uint me = gl_LocalInvocationID.x;
  sums[me] = own;
  barrier();
  for (uint part = GROUP_SIZE / 2; part > 0; part /= 2) {
    if (me < part) sums[me] += sums[me + part];
    barrier();
  }
  return sums[0];
}

#ifdef partial_sums
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Partial { float partial[]; };
void partial_sums() {
  const int stride = GROUPS * int(GROUP_SIZE);
  float own = 0.0;
  for (int i = int(gl_GlobalInvocationID.x); i < n; i += UNROLL * stride)
    for (int u = 0; u < UNROLL; ++u)
      if (i + u * stride < n) own += x[i + u * stride];
  const float sum = sum_of_group(own);
  if (gl_LocalInvocationID.x == 0) partial[gl_WorkGroupID.x] = sum;
}
#else
layout(binding = 0) readonly buffer Partial { float partial[]; };
layout(binding = 1) writeonly buffer Total { float total[]; };
void last_sum() {
  float own = 0.0;
  for (uint i = gl_LocalInvocationID.x; i < GROUPS; i += GROUP_SIZE) own += partial[i];
  const float sum = sum_of_group(own);
  if (gl_LocalInvocationID.x == 0) total[0] = sum;
}
#endif
