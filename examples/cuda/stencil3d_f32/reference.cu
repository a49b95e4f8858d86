// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The seven-point stencil, one thread a point.

extern "C" __global__ void stencil_reference(int32_t nx, int32_t ny, int32_t nz, real center, real side,
                                             const real* u, real* v) {
  const int x = static_cast<int>(blockIdx.x * 128 + threadIdx.x), y = static_cast<int>(blockIdx.y);
  const int z = static_cast<int>(blockIdx.z);
  if (x >= nx) return;
  const size_t line = static_cast<size_t>(nx), plane = line * ny, at = z * plane + y * line + x;
  real sum = 0;
  if (x > 0) sum += u[at - 1];
  if (x + 1 < nx) sum += u[at + 1];
  if (y > 0) sum += u[at - line];
  if (y + 1 < ny) sum += u[at + line];
  if (z > 0) sum += u[at - plane];
  if (z + 1 < nz) sum += u[at + plane];
  v[at] = center * u[at] + side * sum;
}
