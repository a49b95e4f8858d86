// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

__kernel void sum_reference(int n, const __global real* x, __global real* sum) {
  __local real parts[64];
  real mine = 0;
  for (int i = get_local_id(0); i < n; i += 64) mine += x[i];
  parts[get_local_id(0)] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    for (int i = 1; i < 64; ++i) mine += parts[i];
    sum[0] = mine;
  }
}
