// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of a 7-point stencil on n x n x n points: the six neighbours and the point itself; the outermost points stay as
// they are. A work item takes VEC points along x and LAYERS along z.
#ifndef GROUP_X
#  define GROUP_X 16
#  define GROUP_Y 4
#  define LAYERS 1
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

#define AT(z, y, x) (((z) * n + (y)) * n + (x))

float one_point(int n, const __global float* in, int z, int y, int x) {
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) return in[AT(z, y, x)];
  return 0.4f * in[AT(z, y, x)] + 0.1f * (in[AT(z, y, x - 1)] + in[AT(z, y, x + 1)] + in[AT(z, y - 1, x)] +
                                          in[AT(z, y + 1, x)] + in[AT(z - 1, y, x)] + in[AT(z + 1, y, x)]);
}

__kernel __attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) void stencil(
    int n, const __global float* restrict in, __global float* restrict out) {
  const int x = get_global_id(0) * VEC, y = get_global_id(1);
  if (x >= n || y >= n) return;
  for (int layer = 0; layer < LAYERS; ++layer) {
    const int z = get_global_id(2) * LAYERS + layer;
    if (z >= n) return;
    if (VEC > 1 && x > 0 && x + VEC < n && y > 0 && y < n - 1 && z > 0 && z < n - 1) {
      const vec near = LOAD(in + AT(z, y, x - 1)) + LOAD(in + AT(z, y, x + 1)) + LOAD(in + AT(z, y - 1, x)) +
                       LOAD(in + AT(z, y + 1, x)) + LOAD(in + AT(z - 1, y, x)) + LOAD(in + AT(z + 1, y, x));
      STORE(0.4f * LOAD(in + AT(z, y, x)) + 0.1f * near, out + AT(z, y, x));
    } else {
      for (int i = x; i < x + VEC && i < n; ++i) out[AT(z, y, i)] = one_point(n, in, z, y, i);
    }
  }
}
