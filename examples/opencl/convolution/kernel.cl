// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A filter of 5 x 5 over an image whose borders are given: out(y, x) = sum filter(j, i) in(y + j, x + i). A work item
// computes ROWS x VEC elements.
#ifndef GROUP_X
#  define GROUP_X 16
#  define GROUP_Y 4
#  define ROWS 1
#  define VEC 1
#  define UNROLL 0
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

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void convolution(
    int height, int width, const __global float* restrict in, const __global float* restrict filter,
    __global float* restrict out) {
  const int x = get_global_id(0) * VEC, first = get_global_id(1) * ROWS, stride = width + 4;
  if (x >= width) return;
  for (int r = 0; r < ROWS; ++r) {
    const int y = first + r;
    if (y >= height) return;
    if (x + VEC <= width) {
      vec sum = (vec)(0.0f);
#if UNROLL
#pragma unroll
#endif
      for (int j = 0; j < 5; ++j)
#pragma unroll
        for (int i = 0; i < 5; ++i) sum += filter[j * 5 + i] * LOAD(in + (y + j) * stride + x + i);
      STORE(sum, out + y * width + x);
    } else {
      for (int one = x; one < width; ++one) {
        float sum = 0;
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i) sum += filter[j * 5 + i] * in[(y + j) * stride + one + i];
        out[y * width + one] = sum;
      }
    }
  }
}
