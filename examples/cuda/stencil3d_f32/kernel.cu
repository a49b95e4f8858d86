// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v = center * u + side * (the six neighbours of u), zero outside the nx x ny x nz box, x fastest. A thread
// walks DEPTH planes along z and keeps three planes of its WIDTH x LINES points in registers. What lies in
// other threads' registers comes
//   EXCHANGE 0  from global memory (the first-level cache)
//   EXCHANGE 1  by shuffles along x, along y from global memory
//   EXCHANGE 2  from a copy of the plane in shared memory

#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)

constexpr int unroll_count = UNROLL;  // the pragma expands no macro

struct alignas(4 * WIDTH) Pack {
  float v[WIDTH];
};

struct Box {
  const float* u;
  int nx, ny, nz;
  __device__ __forceinline__ size_t at(int x, int y, int z) const {
    return (static_cast<size_t>(z) * ny + y) * nx + x;
  }
  __device__ __forceinline__ float one(int x, int y, int z) const {
    if (x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz) return 0;
    float value;
    asm volatile("ld.global" TEXT(LOAD) ".f32 %0, [%1];" : "=f"(value) : "l"(u + at(x, y, z)));
    return value;
  }
};

/// The points from x on; Whole: nx is a multiple of WIDTH.
template <bool Whole>
__device__ __forceinline__ Pack load(const Box& box, int x, int y, int z) {
  Pack p;
  if constexpr (!Whole || WIDTH == 1) {
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) p.v[w] = box.one(x + w, y, z);
  } else {
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) p.v[w] = 0;
    if (x >= box.nx || y < 0 || y >= box.ny || z < 0 || z >= box.nz) return p;
    const float* from = box.u + box.at(x, y, z);
#if WIDTH == 4
    asm volatile("ld.global" TEXT(LOAD) ".v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(p.v[0]), "=f"(p.v[1]), "=f"(p.v[2]), "=f"(p.v[3])
                 : "l"(from));
#elif WIDTH == 2
    asm volatile("ld.global" TEXT(LOAD) ".v2.f32 {%0,%1}, [%2];" : "=f"(p.v[0]), "=f"(p.v[1]) : "l"(from));
#endif
  }
  return p;
}

template <bool Whole>
__device__ __forceinline__ void store(float* v, const Box& box, int x, int y, int z, const Pack& p) {
  if (y >= box.ny) return;
  float* to = v + box.at(x, y, z);
#if WIDTH > 1
  if constexpr (Whole) {
    if (x >= box.nx) return;
#  if WIDTH == 4
    asm volatile("st.global" TEXT(STORE) ".v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(to), "f"(p.v[0]), "f"(p.v[1]),
                 "f"(p.v[2]), "f"(p.v[3])
                 : "memory");
#  else
    asm volatile("st.global" TEXT(STORE) ".v2.f32 [%0], {%1,%2};" ::"l"(to), "f"(p.v[0]), "f"(p.v[1])
                 : "memory");
#  endif
    return;
  }
#endif
#pragma unroll
  for (int w = 0; w < WIDTH; ++w)
    if (x + w < box.nx)
      asm volatile("st.global" TEXT(STORE) ".f32 [%0], %1;" ::"l"(to + w), "f"(p.v[w]) : "memory");
}

#if EXCHANGE == 2
__shared__ alignas(16) float copies[2][BLOCK_Y * LINES][BLOCK_X * WIDTH];
#endif

struct Plane {
  Pack p[LINES];
};

template <bool Whole>
__device__ __forceinline__ Plane plane(const Box& box, int x, int y, int z) {
  Plane result;
#pragma unroll
  for (int j = 0; j < LINES; ++j) result.p[j] = load<Whole>(box, x, y + j, z);
  return result;
}

template <bool Whole>
__device__ __forceinline__ void walk(const Box& box, float* v, float center, float side) {
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int x = (static_cast<int>(blockIdx.x) * BLOCK_X + tx) * WIDTH;
  const int y = (static_cast<int>(blockIdx.y) * BLOCK_Y + ty) * LINES;
  const int first = static_cast<int>(blockIdx.z) * DEPTH;
  const int last = min(first + DEPTH, box.nz);
  Plane before = plane<Whole>(box, x, y, first - 1);
  Plane now = plane<Whole>(box, x, y, first);
  Plane after, later;
  if constexpr (PREFETCH) after = plane<Whole>(box, x, y, first + 1);
#pragma unroll unroll_count
  for (int z = first; z < last; ++z) {
    if constexpr (PREFETCH)
      later = plane<Whole>(box, x, y, z + 2 <= last ? z + 2 : -1);
    else
      after = plane<Whole>(box, x, y, z + 1);
    Pack above, below;
    float left[LINES], right[LINES];
#if EXCHANGE == 2
    auto& copy = copies[z & 1];  // the other one may still be read
#  pragma unroll
    for (int j = 0; j < LINES; ++j) *reinterpret_cast<Pack*>(&copy[ty * LINES + j][tx * WIDTH]) = now.p[j];
    __syncthreads();
    above = ty > 0 ? *reinterpret_cast<const Pack*>(&copy[ty * LINES - 1][tx * WIDTH])
                   : load<Whole>(box, x, y - 1, z);
    below = ty + 1 < BLOCK_Y ? *reinterpret_cast<const Pack*>(&copy[ty * LINES + LINES][tx * WIDTH])
                             : load<Whole>(box, x, y + LINES, z);
#  pragma unroll
    for (int j = 0; j < LINES; ++j) {
      left[j] = tx > 0 ? copy[ty * LINES + j][tx * WIDTH - 1] : box.one(x - 1, y + j, z);
      right[j] = tx + 1 < BLOCK_X ? copy[ty * LINES + j][tx * WIDTH + WIDTH] : box.one(x + WIDTH, y + j, z);
    }
#else
    above = load<Whole>(box, x, y - 1, z);
    below = load<Whole>(box, x, y + LINES, z);
#  pragma unroll
    for (int j = 0; j < LINES; ++j) {
#  if EXCHANGE == 1
      constexpr int lanes = BLOCK_X < 32 ? BLOCK_X : 32;
      left[j] = __shfl_up_sync(0xffffffffu, now.p[j].v[WIDTH - 1], 1, lanes);
      right[j] = __shfl_down_sync(0xffffffffu, now.p[j].v[0], 1, lanes);
      if (tx % lanes == 0) left[j] = box.one(x - 1, y + j, z);
      if (tx % lanes == lanes - 1) right[j] = box.one(x + WIDTH, y + j, z);
#  else
      left[j] = box.one(x - 1, y + j, z);
      right[j] = box.one(x + WIDTH, y + j, z);
#  endif
    }
#endif
#pragma unroll
    for (int j = 0; j < LINES; ++j) {
      const Pack& up = j > 0 ? now.p[j > 0 ? j - 1 : 0] : above;
      const Pack& down = j + 1 < LINES ? now.p[j + 1 < LINES ? j + 1 : j] : below;
      Pack result;
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) {
        const float west = w > 0 ? now.p[j].v[w > 0 ? w - 1 : 0] : left[j];
        const float east = w + 1 < WIDTH ? now.p[j].v[w + 1 < WIDTH ? w + 1 : w] : right[j];
        const float sum = ((west + east) + (up.v[w] + down.v[w])) + (before.p[j].v[w] + after.p[j].v[w]);
        result.v[w] = fmaf(center, now.p[j].v[w], side * sum);
      }
      store<Whole>(v, box, x, y + j, z, result);
    }
    before = now;
    now = after;
    if constexpr (PREFETCH) after = later;
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y, MIN_BLOCKS)
    stencil(int32_t nx, int32_t ny, int32_t nz, float center, float side, const float* __restrict__ u,
            float* __restrict__ v) {
  const Box box{u, nx, ny, nz};
  if (nx % WIDTH == 0)
    walk<true>(box, v, center, side);
  else
    walk<false>(box, v, center, side);
}
