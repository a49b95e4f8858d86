// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum of n numbers in two kernels: each of GROUPS groups sums a stripe, in vectors of VEC, into a workspace, and one
// group sums these. What a group's items have found comes together in local memory that the launch gives it.
#ifndef GROUP
#  define GROUP 64
#  define GROUPS 64
#  define VEC 1
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

float together(float mine, __local float* parts) {
  const int item = get_local_id(0);
  parts[item] = mine;
  for (int reach = GROUP / 2; reach > 0; reach /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < reach) parts[item] += parts[item + reach];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return parts[0];
}

float across(vec value) {
  float sum = 0;
#if VEC == 1
  sum = value;
#else
  const float* at = (const float*)&value;
  for (int i = 0; i < VEC; ++i) sum += at[i];
#endif
  return sum;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void partial_sums(
    int n, const __global float* restrict x, __global float* restrict partial, __local float* parts) {
  const int vectors = n / VEC;
  vec sum = (vec)(0.0f);
  for (int i = get_global_id(0); i < vectors; i += GROUP * GROUPS) sum += LOAD(x + i * VEC);
  float mine = across(sum);
  for (int i = vectors * VEC + get_global_id(0); i < n; i += GROUP * GROUPS) mine += x[i];
  const float all = together(mine, parts);
  if (get_local_id(0) == 0) partial[get_group_id(0)] = all;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sum_of_sums(
    const __global float* restrict partial, __global float* restrict sum, __local float* parts) {
  float mine = 0;
  for (int i = get_local_id(0); i < GROUPS; i += GROUP) mine += partial[i];
  const float all = together(mine, parts);
  if (get_local_id(0) == 0) sum[0] = all;
}
