// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B, n x n, row-major. A work item computes ROWS x VEC elements of C, a group GROUP_Y * ROWS rows and
// GROUP_X * VEC columns. With STAGE the group's rows of A lie in local memory, DEPTH columns at a time; without,
// DEPTH is how far the loop is unrolled.
#ifndef GROUP_X
#  define GROUP_X 8
#  define GROUP_Y 8
#  define ROWS 1
#  define VEC 1
#  define DEPTH 1
#  define STAGE 0
#endif

#define JOIN_(left, right) left##right
#define JOIN(left, right) JOIN_(left, right)
#if VEC == 1
typedef float vec;
#  define LOAD(at) (*(at))
#  define STORE(value, at) (*(at) = (value))
#else
typedef JOIN(float, VEC) vec;
#  define LOAD(at) JOIN(vload, VEC)(0, at)
#  define STORE(value, at) JOIN(vstore, VEC)(value, 0, at)
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void matmul(
    int n, const __global float* restrict a, const __global float* restrict b, __global float* restrict c) {
  const int column = get_global_id(0) * VEC;
  const int row = get_global_id(1) * ROWS;
  vec sum[ROWS];
  for (int i = 0; i < ROWS; ++i) sum[i] = (vec)(0.0f);

#if STAGE
  __local float rows[GROUP_Y * ROWS * DEPTH];
  const int first = get_group_id(1) * GROUP_Y * ROWS, mine = get_local_id(1) * ROWS;
  const int item = get_local_id(1) * GROUP_X + get_local_id(0);
#endif
  for (int depth = 0; depth < n; depth += DEPTH) {
#if STAGE
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int at = item; at < GROUP_Y * ROWS * DEPTH; at += GROUP_X * GROUP_Y)
      rows[at] = a[(first + at / DEPTH) * n + depth + at % DEPTH];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const vec right = LOAD(b + (depth + k) * n + column);
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#if STAGE
        sum[i] += rows[(mine + i) * DEPTH + k] * right;
#else
        sum[i] += a[(row + i) * n + depth + k] * right;
#endif
      }
    }
  }
  for (int i = 0; i < ROWS; ++i) STORE(sum[i], c + (row + i) * n + column);
}
