// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = a x + y. A block takes chunks of UNROLL vectors of WIDTH floats for each of its threads, all of them loaded
// before the first is used.
#include "kernelsearch/device/portable.hpp"

namespace ks = kernelsearch::device;

extern "C" __global__ void __launch_bounds__(BLOCK) KERNELSEARCH_WAVES_PER_EU(WAVES)
saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  constexpr long long chunk = static_cast<long long>(BLOCK) * WIDTH * UNROLL;
  for (long long first = blockIdx.x * chunk; first < n; first += gridDim.x * chunk) {
    const long long mine = first + static_cast<long long>(threadIdx.x) * WIDTH;
    ks::Pack<float, WIDTH> xs[UNROLL], ys[UNROLL];
    KERNELSEARCH_UNROLL(UNROLL)
    for (int u = 0; u < UNROLL; ++u) {
      const long long i = mine + static_cast<long long>(u) * BLOCK * WIDTH;
      if (i + WIDTH > n) continue;
      xs[u] = ks::load_pack<WIDTH>(x + i);
      ys[u] = ks::load_pack<WIDTH>(y + i);
    }
    KERNELSEARCH_UNROLL(UNROLL)
    for (int u = 0; u < UNROLL; ++u) {
      const long long i = mine + static_cast<long long>(u) * BLOCK * WIDTH;
      if (i + WIDTH <= n) {
        for (int w = 0; w < WIDTH; ++w) ys[u][w] = fmaf(a, xs[u][w], ys[u][w]);
        ks::store_pack<WIDTH>(y + i, ys[u]);
      } else {
        for (long long last = i; last < n; ++last) y[last] = fmaf(a, x[last], y[last]);
      }
    }
  }
}
