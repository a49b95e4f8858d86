// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>

// One sweep of the 7-point stencil over a grid of nz x ny x nx points (x fastest): a point of the inside
// becomes center * itself + side * (the sum of its six neighbours); the boundary is copied.
void stencil_reference(std::int32_t nz, std::int32_t ny, std::int32_t nx, real center, real side,
                       const real* input, real* output) {
  const std::int64_t row = nx, plane = row * ny;
  for (std::int64_t z = 0; z < nz; ++z) {
    for (std::int64_t y = 0; y < ny; ++y) {
      const real* p = input + z * plane + y * row;
      real* q = output + z * plane + y * row;
      if (z == 0 || z == nz - 1 || y == 0 || y == ny - 1) {
        for (std::int64_t x = 0; x < nx; ++x) q[x] = p[x];
        continue;
      }
      q[0] = p[0];
      for (std::int64_t x = 1; x < nx - 1; ++x) {
        q[x] = center * p[x] +
               side * (p[x - 1] + p[x + 1] + p[x - row] + p[x + row] + p[x - plane] + p[x + plane]);
      }
      q[nx - 1] = p[nx - 1];
    }
  }
}
