// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many turns of z = z^2 + c, at most 128, each point stays within 2, in fixed point with 25 bits behind
// the point. UNROLL turns are made between two tests of whether all is over.

__device__ __forceinline__ int product(int a, int b) {
#if WIDE
  return static_cast<int>((static_cast<long long>(a) * b) >> 25);
#elif defined(__CUDA_ARCH__)
  return static_cast<int>((static_cast<unsigned>(__mulhi(a, b)) << 7) |
                          (static_cast<unsigned>(a) * static_cast<unsigned>(b) >> 25));
#else
  const long long wide = static_cast<long long>(a) * b;
  return static_cast<int>((static_cast<unsigned>(wide >> 32) << 7) | (static_cast<unsigned>(wide) >> 25));
#endif
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    mandelbrot(int32_t height, int32_t width, const int32_t* __restrict__ re, const int32_t* __restrict__ im,
               int32_t* __restrict__ turns) {
  constexpr int four = 4 << 25, most = 128, unrolled = UNROLL;
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x0 = static_cast<int>(blockIdx.x) * BLOCK_X * WORK_X,
            y0 = static_cast<int>(blockIdx.y) * BLOCK_Y * WORK_Y;
#pragma unroll 1
  for (int w = 0; w < WORK_X * WORK_Y; ++w) {
    const int wx = w % WORK_X, wy = w / WORK_X;
    const int x = x0 + (ORDER == 0 ? tx + wx * BLOCK_X : tx * WORK_X + wx);
    const int y = y0 + (ORDER == 0 ? ty + wy * BLOCK_Y : ty * WORK_Y + wy);
    if (x >= width || y >= height) continue;
    const int a = re[x], b = im[y];
    int u = 0, v = 0, count = 0;
    bool inside = true;
#pragma unroll 1
    for (int i = 0; i < most && inside; i += unrolled) {
#pragma unroll
      for (int k = 0; k < unrolled; ++k) {
        const int uu = product(u, u), vv = product(v, v);
        inside = inside && uu + vv <= four;
        if (inside) {
          v = 2 * product(u, v) + b;
          u = uu - vv + a;
          ++count;
        }
      }
    }
    turns[static_cast<size_t>(y) * width + x] = count;
  }
}
