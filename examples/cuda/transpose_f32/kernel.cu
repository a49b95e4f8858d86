// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = transpose of x, row-major: x is rows x cols. Tiles of TILE_ROWS x TILE_COLS; WIDTH x WIDTH elements are
// turned in registers.
//   STRATEGY 0  registers, turned into shared memory, out of there
//   STRATEGY 1  a ring of STAGES tiles in shared memory filled by asynchronous copies; turned on the way out
//   STRATEGY 2  registers only; LANE_COLS lanes of a warp lie along a row of x, the others along a row of y

#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)

template <int W>
struct alignas(4 * W) Pack {
  float v[W];
};

template <int W>
__device__ __forceinline__ Pack<W> load(const float* p) {
  Pack<W> x;
  if constexpr (W == 4)
    asm volatile("ld.global" TEXT(LOAD) ".v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(x.v[0]), "=f"(x.v[1]), "=f"(x.v[2]), "=f"(x.v[3])
                 : "l"(p));
  else if constexpr (W == 2)
    asm volatile("ld.global" TEXT(LOAD) ".v2.f32 {%0,%1}, [%2];" : "=f"(x.v[0]), "=f"(x.v[1]) : "l"(p));
  else
    asm volatile("ld.global" TEXT(LOAD) ".f32 %0, [%1];" : "=f"(x.v[0]) : "l"(p));
  return x;
}

template <int W>
__device__ __forceinline__ void store(float* p, const Pack<W>& x) {
  if constexpr (W == 4)
    asm volatile("st.global" TEXT(STORE) ".v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(p), "f"(x.v[0]), "f"(x.v[1]),
                 "f"(x.v[2]), "f"(x.v[3])
                 : "memory");
  else if constexpr (W == 2)
    asm volatile("st.global" TEXT(STORE) ".v2.f32 [%0], {%1,%2};" ::"l"(p), "f"(x.v[0]), "f"(x.v[1])
                 : "memory");
  else
    asm volatile("st.global" TEXT(STORE) ".f32 [%0], %1;" ::"l"(p), "f"(x.v[0]) : "memory");
}

/// A square of W x W elements on its way through registers.
template <int W>
struct Square {
  Pack<W> v[W];
  __device__ __forceinline__ Pack<W> column(int j) const {
    Pack<W> c;
#pragma unroll
    for (int i = 0; i < W; ++i) c.v[i] = v[i].v[j];
    return c;
  }
};

/// The place of vector `v` of line `line` in a tile whose lines hold LENGTH vectors of W floats. Threads of a
/// warp take vectors of one line, or the same vector of every W-th line: PLACE 1 spreads the latter over the
/// banks by exclusive or, 2 by padding.
template <int W, int LENGTH>
__device__ __forceinline__ int place(int line, int v) {
  if constexpr (PLACE == 1) {
    constexpr int mask = (LENGTH < 32 / W ? LENGTH : 32 / W) - 1;
    return line * LENGTH + (v ^ ((line / W) & mask));
  }
  return line * (LENGTH + (PLACE == 2 ? 1 : 0)) + v;
}

/// The corner of a tile: bands of BAND tile rows; within a band down first, then to the right.
struct Corner {
  int row, col;
};
__device__ __forceinline__ Corner corner_of(int tile, int rows, int cols) {
  const int down = (rows + TILE_ROWS - 1) / TILE_ROWS, across = (cols + TILE_COLS - 1) / TILE_COLS;
  const int band = tile / (BAND * across), in = tile - band * BAND * across;
  const int height = min(BAND, down - band * BAND);
  const int c = in / height;
  const int r = band * BAND + in - c * height;
  return {r * TILE_ROWS, (DIAGONAL ? (c + r) % across : c) * TILE_COLS};
}

extern __shared__ __align__(128) float tiles[];

#if STRATEGY == 0
template <int W>
__device__ __forceinline__ void turn(const float* x, float* y, int rows, int cols, int tile, bool again) {
  constexpr int squares = TILE_ROWS * TILE_COLS / (W * W * THREADS);
  constexpr int across = TILE_COLS / W, down = TILE_ROWS / W;
  const Corner corner = corner_of(tile, rows, cols);
  auto* const shared = reinterpret_cast<Pack<W>*>(tiles);
  Square<W> s[squares];
#  pragma unroll
  for (int k = 0; k < squares; ++k) {
    const int at = k * THREADS + static_cast<int>(threadIdx.x);
    const int r = corner.row + at / across * W, c = corner.col + at % across * W;
    if (r < rows && c < cols)
#  pragma unroll
      for (int i = 0; i < W; ++i) s[k].v[i] = load<W>(x + static_cast<size_t>(r + i) * cols + c);
  }
  if (again) __syncthreads();  // the tile before has been read
#  pragma unroll
  for (int k = 0; k < squares; ++k) {
    const int at = k * THREADS + static_cast<int>(threadIdx.x);
#  pragma unroll
    for (int j = 0; j < W; ++j) shared[place<W, down>(at % across * W + j, at / across)] = s[k].column(j);
  }
  __syncthreads();
#  pragma unroll
  for (int k = 0; k < squares * W; ++k) {
    const int at = k * THREADS + static_cast<int>(threadIdx.x);
    const int r = corner.row + at % down * W, c = corner.col + at / down;
    if (r < rows && c < cols)
      store<W>(y + static_cast<size_t>(c) * rows + r, shared[place<W, down>(at / down, at % down)]);
  }
}
#elif STRATEGY == 1
template <int W>
__device__ __forceinline__ void fetch(const float* x, int rows, int cols, int tile, float* slot) {
  constexpr int vectors = TILE_ROWS * TILE_COLS / (W * THREADS);
  constexpr int across = TILE_COLS / W;
  const Corner corner = corner_of(tile, rows, cols);
#  pragma unroll
  for (int k = 0; k < vectors; ++k) {
    const int at = k * THREADS + static_cast<int>(threadIdx.x);
    const int r = corner.row + at / across, c = corner.col + at % across * W;
    if (r < rows && c < cols) {
      const unsigned to = static_cast<unsigned>(
          __cvta_generic_to_shared(slot + place<W, across>(at / across, at % across) * W));
      const float* from = x + static_cast<size_t>(r) * cols + c;
      if constexpr (W == 4)
        asm volatile("cp.async.cg.shared.global" TEXT(ASYNC) " [%0], [%1], 16;" ::"r"(to), "l"(from)
                     : "memory");
      else
        asm volatile("cp.async.ca.shared.global" TEXT(ASYNC) " [%0], [%1], %2;" ::"r"(to), "l"(from),
                     "n"(4 * W)
                     : "memory");
    }
  }
}

template <int W>
__device__ __forceinline__ void turn(const float* slot, float* y, int rows, int cols, int tile) {
  constexpr int squares = TILE_ROWS * TILE_COLS / (W * W * THREADS);
  constexpr int across = TILE_COLS / W, down = TILE_ROWS / W;
  const Corner corner = corner_of(tile, rows, cols);
  const auto* const shared = reinterpret_cast<const Pack<W>*>(slot);
#  pragma unroll(squares < 4 ? squares : 4)
  for (int k = 0; k < squares; ++k) {
    const int at = k * THREADS + static_cast<int>(threadIdx.x);
    const int r = corner.row + at % down * W, c = corner.col + at / down * W;
    if (r < rows && c < cols) {
      Square<W> s;
#  pragma unroll
      for (int i = 0; i < W; ++i) s.v[i] = shared[place<W, across>(at % down * W + i, at / down)];
#  pragma unroll
      for (int j = 0; j < W; ++j) store<W>(y + static_cast<size_t>(c + j) * rows + r, s.column(j));
    }
  }
}
#else
template <int W>
__device__ __forceinline__ void turn(const float* x, float* y, int rows, int cols, int tile) {
  constexpr int squares = TILE_ROWS * TILE_COLS / (W * W * THREADS);
  constexpr int lane_rows = 32 / LANE_COLS;
  constexpr int across = TILE_COLS / (W * LANE_COLS);  // in warps
  const Corner corner = corner_of(tile, rows, cols);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Square<W> s[squares];
#  pragma unroll
  for (int k = 0; k < squares; ++k) {
    const int at = k * (THREADS / 32) + warp;
    const int r = corner.row + (at / across * lane_rows + lane / LANE_COLS) * W;
    const int c = corner.col + (at % across * LANE_COLS + lane % LANE_COLS) * W;
    if (r < rows && c < cols)
#  pragma unroll
      for (int i = 0; i < W; ++i) s[k].v[i] = load<W>(x + static_cast<size_t>(r + i) * cols + c);
  }
#  pragma unroll
  for (int k = 0; k < squares; ++k) {
    const int at = k * (THREADS / 32) + warp;
    const int r = corner.row + (at / across * lane_rows + lane / LANE_COLS) * W;
    const int c = corner.col + (at % across * LANE_COLS + lane % LANE_COLS) * W;
    if (r < rows && c < cols)
#  pragma unroll
      for (int j = 0; j < W; ++j) store<W>(y + static_cast<size_t>(c + j) * rows + r, s[k].column(j));
  }
}
#endif

template <int W>
__device__ __forceinline__ void all_tiles(const float* x, float* y, int rows, int cols) {
  const int count = ((rows + TILE_ROWS - 1) / TILE_ROWS) * ((cols + TILE_COLS - 1) / TILE_COLS);
  const int stride = static_cast<int>(gridDim.x);
  int tile = static_cast<int>(blockIdx.x);
#if STRATEGY == 1
  constexpr int slot_size = (PLACE == 2 ? TILE_COLS + W : TILE_COLS) * TILE_ROWS;
#  pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (const int ahead = tile + s * stride; ahead < count)
      fetch<W>(x, rows, cols, ahead, tiles + s * slot_size);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  int stage = 0;
  for (; tile < count; tile += stride) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();  // all threads' copies have arrived, and all have left the slot of the tile before
    if (const int ahead = tile + (STAGES - 1) * stride; ahead < count)
      fetch<W>(x, rows, cols, ahead, tiles + (stage == 0 ? STAGES - 1 : stage - 1) * slot_size);
    asm volatile("cp.async.commit_group;" ::: "memory");
    turn<W>(tiles + stage * slot_size, y, rows, cols, tile);
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }
#elif STRATEGY == 0
  for (bool again = false; tile < count; tile += stride, again = true) turn<W>(x, y, rows, cols, tile, again);
#else
  for (; tile < count; tile += stride) turn<W>(x, y, rows, cols, tile);
#endif
}

/// For sides that WIDTH does not divide, in few registers.
__device__ __forceinline__ void plain(const float* x, float* y, int rows, int cols) {
  auto* const small = reinterpret_cast<float(*)[33]>(tiles);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int down = (rows + 31) / 32, across = (cols + 31) / 32;
  for (int tile = static_cast<int>(blockIdx.x); tile < down * across; tile += static_cast<int>(gridDim.x)) {
    const int row = tile / across * 32, col = tile % across * 32;
    for (int i = warp; i < 32; i += THREADS / 32)
      if (row + i < rows && col + lane < cols)
        small[i][lane] = load<1>(x + static_cast<size_t>(row + i) * cols + col + lane).v[0];
    __syncthreads();
    for (int i = warp; i < 32; i += THREADS / 32)
      if (col + i < cols && row + lane < rows)
        store<1>(y + static_cast<size_t>(col + i) * rows + row + lane, {small[lane][i]});
    __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(int32_t rows, int32_t cols, const float* __restrict__ x, float* __restrict__ y) {
  if (WIDTH == 1 || (rows % WIDTH == 0 && cols % WIDTH == 0))
    all_tiles<WIDTH>(x, y, rows, cols);
  else
    plain(x, y, rows, cols);
}
