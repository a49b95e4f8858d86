// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define AT(z, y, x) (((z) * n + (y)) * n + (x))

__kernel void stencil_reference(int n, const __global real* in, __global real* out) {
  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x >= n || y >= n || z >= n) return;
  if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1)
    out[AT(z, y, x)] = in[AT(z, y, x)];
  else
    out[AT(z, y, x)] = (real)0.4 * in[AT(z, y, x)] +
                       (real)0.1 * (in[AT(z, y, x - 1)] + in[AT(z, y, x + 1)] + in[AT(z, y - 1, x)] +
                                    in[AT(z, y + 1, x)] + in[AT(z - 1, y, x)] + in[AT(z + 1, y, x)]);
}
