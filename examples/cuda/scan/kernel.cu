// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y[i] = x[0] + ... + x[i] modulo 2^32. A block scans a tile of THREADS * ITEMS elements; a warp of it 32 * ITEMS in
// a row, of which a thread loads and stores vectors of WIDTH elements, 32 vectors apart.
//   METHOD 0  one pass: a block publishes its tile's sum, looks back for the sums or the prefix of those before
//             it, and publishes its own prefix. Blocks take tiles in the order in which they begin, so that what
//             they wait for is always under way.
//   METHOD 1  three kernels: sums of the tiles, their prefixes, the scan.

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int warps = THREADS / 32;
constexpr int vectors = ITEMS / WIDTH;  // of a thread
constexpr int tile_size = THREADS * ITEMS;

#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)

struct alignas(4 * WIDTH) Pack {
  uint32_t v[WIDTH];
};

__device__ __forceinline__ Pack load(const uint32_t* p) {
#ifdef __CUDA_ARCH__
  Pack x;
#  if WIDTH == 4
  asm volatile("ld.global" TEXT(LOAD) ".v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3])
               : "l"(p));
#  elif WIDTH == 2
  asm volatile("ld.global" TEXT(LOAD) ".v2.u32 {%0,%1}, [%2];" : "=r"(x.v[0]), "=r"(x.v[1]) : "l"(p));
#  else
  asm volatile("ld.global" TEXT(LOAD) ".u32 %0, [%1];" : "=r"(x.v[0]) : "l"(p));
#  endif
  return x;
#else
  return *reinterpret_cast<const Pack*>(p);
#endif
}

__device__ __forceinline__ void store(uint32_t* p, const Pack& x) {
#ifdef __CUDA_ARCH__
#  if WIDTH == 4
  asm volatile("st.global" TEXT(STORE) ".v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(x.v[0]), "r"(x.v[1]),
               "r"(x.v[2]), "r"(x.v[3])
               : "memory");
#  elif WIDTH == 2
  asm volatile("st.global" TEXT(STORE) ".v2.u32 [%0], {%1,%2};" ::"l"(p), "r"(x.v[0]), "r"(x.v[1])
               : "memory");
#  else
  asm volatile("st.global" TEXT(STORE) ".u32 [%0], %1;" ::"l"(p), "r"(x.v[0]) : "memory");
#  endif
#else
  *reinterpret_cast<Pack*>(p) = x;
#endif
}

/// Where the thread's vector `j` begins in the array.
__device__ __forceinline__ int place_of(int tile, int j) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  return tile * tile_size + warp * 32 * ITEMS + (j * 32 + lane) * WIDTH;
}

/// The thread's elements of a tile; 0 beyond the end.
__device__ __forceinline__ void read_tile(int n, const uint32_t* x, int tile, Pack (&v)[vectors]) {
  if (n - tile * tile_size >= tile_size) {
#pragma unroll
    for (int j = 0; j < vectors; ++j) v[j] = load(x + place_of(tile, j));
  } else {
#pragma unroll
    for (int j = 0; j < vectors; ++j)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) v[j].v[w] = place_of(tile, j) + w < n ? x[place_of(tile, j) + w] : 0;
  }
}

__device__ __forceinline__ void write_tile(int n, uint32_t* y, int tile, const Pack (&v)[vectors]) {
  if (n - tile * tile_size >= tile_size) {
#pragma unroll
    for (int j = 0; j < vectors; ++j) store(y + place_of(tile, j), v[j]);
  } else {
#pragma unroll
    for (int j = 0; j < vectors; ++j)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w)
        if (place_of(tile, j) + w < n) y[place_of(tile, j) + w] = v[j].v[w];
  }
}

/// The sum over the lanes up to this one.
__device__ __forceinline__ uint32_t scan_warp(uint32_t value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const uint32_t other = __shfl_up_sync(all_lanes, value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

__device__ __forceinline__ uint32_t sum_warp(uint32_t value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(all_lanes, value, mask);
  return value;
}

#if EXCHANGE
extern __shared__ uint32_t exchanged[];

/// A word more in each 32, so that rows of elements meet in no bank.
__device__ __forceinline__ int padded(int index) {
  return index + index / 32;
}

/// Scans what the warp holds; every lane gets the warp's sum.
__device__ __forceinline__ uint32_t scan_of_warp(Pack (&v)[vectors]) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  uint32_t* const mine = exchanged + static_cast<int>(threadIdx.x) / 32 * 33 * ITEMS;
#  pragma unroll
  for (int j = 0; j < vectors; ++j)
#  pragma unroll
    for (int w = 0; w < WIDTH; ++w) mine[padded((j * 32 + lane) * WIDTH + w)] = v[j].v[w];
  __syncwarp();
  uint32_t row[ITEMS];
#  pragma unroll
  for (int i = 0; i < ITEMS; ++i) row[i] = mine[padded(lane * ITEMS + i)] + (i == 0 ? 0 : row[i - 1]);
  const uint32_t through = scan_warp(row[ITEMS - 1]);
  const uint32_t before = through - row[ITEMS - 1];
  __syncwarp();
#  pragma unroll
  for (int i = 0; i < ITEMS; ++i) mine[padded(lane * ITEMS + i)] = row[i] + before;
  __syncwarp();
#  pragma unroll
  for (int j = 0; j < vectors; ++j)
#  pragma unroll
    for (int w = 0; w < WIDTH; ++w) v[j].v[w] = mine[padded((j * 32 + lane) * WIDTH + w)];
  return __shfl_sync(all_lanes, through, 31);
}
#else
/// Scans what the warp holds; every lane gets the warp's sum.
__device__ __forceinline__ uint32_t scan_of_warp(Pack (&v)[vectors]) {
  uint32_t carried = 0;
#  pragma unroll
  for (int j = 0; j < vectors; ++j) {
#  pragma unroll
    for (int w = 1; w < WIDTH; ++w) v[j].v[w] += v[j].v[w - 1];
    const uint32_t through = scan_warp(v[j].v[WIDTH - 1]);
    const uint32_t before = carried + through - v[j].v[WIDTH - 1];
#  pragma unroll
    for (int w = 0; w < WIDTH; ++w) v[j].v[w] += before;
    carried += __shfl_sync(all_lanes, through, 31);
  }
  return carried;
}
#endif

/// The sum of what warps before this one give, and of all; the same for every lane.
struct BlockSums {
  uint32_t before, all;
};

__device__ __forceinline__ BlockSums sums_of_block(uint32_t of_warp) {
  __shared__ uint32_t sums[warps];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x % 32 == 0) sums[warp] = of_warp;
  __syncthreads();
  BlockSums result{0, 0};
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w == warp) result.before = result.all;
    result.all += sums[w];
  }
  return result;
}

#if METHOD == 0
// What a tile has published: nothing yet, its own sum, or the sum of all up to it. State and sum are one word, so
// that whoever sees the state sees the sum.
constexpr uint64_t has_sum = uint64_t{1} << 32;
constexpr uint64_t has_prefix = uint64_t{2} << 32;

/// The sum of the tiles before this one; for a whole warp.
__device__ uint32_t look_back(const volatile uint64_t* tiles, int tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  uint32_t sum = 0;
  for (int nearest = tile - 1;; nearest -= 32) {
    const int at = nearest - lane;
    uint64_t word;
    do {
      word = at >= 0 ? tiles[at] : has_prefix;
    } while (__any_sync(all_lanes, word >> 32 == 0));
    const unsigned ends = __ballot_sync(all_lanes, word >> 32 == 2);
    const int last = ends == 0 ? 31 : __ffs(static_cast<int>(ends)) - 1;
    sum += sum_warp(lane <= last ? static_cast<uint32_t>(word) : 0);
    if (ends != 0) return sum;
  }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    scan(int32_t n, const uint32_t* __restrict__ x, uint32_t* __restrict__ y, uint64_t* state) {
#if METHOD == 0
  __shared__ int taken;
  __shared__ uint32_t found;
  if (threadIdx.x == 0) taken = static_cast<int>(atomicAdd(reinterpret_cast<unsigned*>(state), 1u));
  __syncthreads();
  const int tile = taken;
#else
  const int tile = static_cast<int>(blockIdx.x);
#endif
  Pack v[vectors];
  read_tile(n, x, tile, v);
  const uint32_t of_warp = scan_of_warp(v);
  const BlockSums sums = sums_of_block(of_warp);
#if METHOD == 0
  volatile uint64_t* const tiles = state + 1;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) tiles[tile] = (tile == 0 ? has_prefix : has_sum) | sums.all;
    const uint32_t before = tile == 0 ? 0 : look_back(tiles, tile);
    if (threadIdx.x == 0) {
      if (tile != 0) tiles[tile] = has_prefix | (before + sums.all);
      found = before;
    }
  }
  __syncthreads();
  const uint32_t before = found + sums.before;
#else
  const uint32_t before = static_cast<uint32_t>(state[1 + tile]) + sums.before;
#endif
#pragma unroll
  for (int j = 0; j < vectors; ++j)
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) v[j].v[w] += before;
  write_tile(n, y, tile, v);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    tile_sums(int32_t n, const uint32_t* __restrict__ x, uint64_t* state) {
  Pack v[vectors];
  read_tile(n, x, static_cast<int>(blockIdx.x), v);
  uint32_t sum = 0;
#pragma unroll
  for (int j = 0; j < vectors; ++j)
#pragma unroll
    for (int w = 0; w < WIDTH; ++w) sum += v[j].v[w];
  const BlockSums sums = sums_of_block(sum_warp(sum));
  if (threadIdx.x == 0) state[1 + blockIdx.x] = sums.all;
}

/// Each tile's sum becomes the sum of those before it; one block.
extern "C" __global__ void __launch_bounds__(1024) tile_prefixes(int32_t n, uint64_t* state) {
  __shared__ uint32_t sums[32];
  const int tiles = (n + tile_size - 1) / tile_size;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  uint32_t carried = 0;
  for (int first = 0; first < tiles; first += 1024) {
    const int at = first + static_cast<int>(threadIdx.x);
    const uint32_t mine = at < tiles ? static_cast<uint32_t>(state[1 + at]) : 0;
    const uint32_t through = scan_warp(mine);
    if (lane == 31) sums[warp] = through;
    __syncthreads();
    uint32_t before = carried;
    for (int w = 0; w < 32; ++w) {
      if (w < warp) before += sums[w];
      carried += sums[w];
    }
    if (at < tiles) state[1 + at] = before + through - mine;
    __syncthreads();
  }
}
