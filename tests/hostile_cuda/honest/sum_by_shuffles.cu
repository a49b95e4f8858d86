// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: total
// Warps by shuffles, then the warps.
#include "kernelsearch/device/portable.hpp"
namespace ks = kernelsearch::device;
extern "C" __global__ void total(int n, const float* x, float* s) {
  __shared__ float scratch[256 / ks::warp_size];
  float t = 0;
  for (int i = threadIdx.x; i < n; i += 256) t += x[i];
  t = ks::reduce_block<256>(t, ks::Sum(), scratch);
  if (threadIdx.x == 0) *s = t;
}
