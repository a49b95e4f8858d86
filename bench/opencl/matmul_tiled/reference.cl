// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

__kernel void matmul_reference(int n, const __global real* a, const __global real* b, __global real* c) {
  __local real tile_a[16][16];
  __local real tile_b[16][16];
  const int column = get_group_id(0) * 16 + get_local_id(0);
  const int row = get_group_id(1) * 16 + get_local_id(1);
  real sum = 0;
  for (int depth = 0; depth < n; depth += 16) {
    const int left = depth + get_local_id(0);
    const int right = depth + get_local_id(1);
    tile_a[get_local_id(1)][get_local_id(0)] = row < n && left < n ? a[row * n + left] : (real)0;
    tile_b[get_local_id(1)][get_local_id(0)] = right < n && column < n ? b[right * n + column] : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += tile_a[get_local_id(1)][k] * tile_b[k][get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
