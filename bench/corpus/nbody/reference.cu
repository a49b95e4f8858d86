// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread for each body.

extern "C" __global__ void nbody_reference(int32_t n, const real* x, const real* y, const real* z,
                                           const real* mass, real* ax, real* ay, real* az) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  real sx = 0, sy = 0, sz = 0;
  for (int j = 0; j < n; ++j) {
    const real dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
    const real inverse = real(1) / sqrt(dx * dx + dy * dy + dz * dz + real(0.01));
    const real strength = mass[j] * inverse * inverse * inverse;
    sx += dx * strength, sy += dy * strength, sz += dz * strength;
  }
  ax[i] = sx, ay[i] = sy, az[i] = sz;
}
