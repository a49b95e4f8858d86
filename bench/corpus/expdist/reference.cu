// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block for a stretch of first points would need a second launch: a block of 1024 threads goes over all
// pairs.

extern "C" __global__ void expdist_reference(int32_t na, int32_t nb, const real* ax, const real* ay,
                                             const real* as, const real* bx, const real* by, const real* bs,
                                             real* sum) {
  __shared__ real sums[1024];
  const int t = static_cast<int>(threadIdx.x);
  real mine = 0;
  for (int i = t; i < na; i += 1024)
    for (int j = 0; j < nb; ++j) {
      const real dx = ax[i] - bx[j], dy = ay[i] - by[j];
      mine += exp(-(dx * dx + dy * dy) / (2 * (as[i] * as[i] + bs[j] * bs[j])));
    }
  sums[t] = mine;
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (t < half) sums[t] += sums[t + half];
    __syncthreads();
  }
  if (t == 0) *sum = sums[0];
}
