// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3 x 3 convolution with padding 1 in single precision on the CUDA cores: input N x C x H x W, weights
// K x C x 3 x 3, output N x K x H x W.
//
// Direct (WINOGRAD 0): a block computes BF filters on TILE_H x TILE_W pixels of one image; cp.async brings CHANNELS
// channels at a time, the pixels with their border (zeros outside the image) and the weights with the filters
// innermost, into a ring of STAGES buffers. A thread computes TF filters on TY x TX pixels from (TY + 2) x (TX + 2)
// inputs in registers. With PACK the weights are brought into their order beforehand.
//
// Winograd's F(2 x 2, 3 x 3) (WINOGRAD 1; Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016),
// in one kernel after the weights are transformed: 16 products where the direct way has 36. A block computes BF
// filters on TILES_Y x TILES_X patches of 2 x 2 pixels; half a warp multiplies at one of the 16 points, each thread
// TF filters by TT patches, while the inputs of the next CHANNELS channels are on their way and then transformed.

/// Copies four bytes; fewer are read, and the rest is zero, where `bytes` is less.
__device__ __forceinline__ void copy4(float* to, const float* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(bytes));
}

__device__ __forceinline__ void copy16(float* to, const float* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(bytes));
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }

template <int PENDING>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

template <int WIDTH>
__device__ __forceinline__ void load_vector(float* to, const float* from) {
  if constexpr (WIDTH == 4) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
  } else if constexpr (WIDTH == 2) {
    const float2 v = *reinterpret_cast<const float2*>(from);
    to[0] = v.x, to[1] = v.y;
  } else {
    to[0] = from[0];
  }
}

#if WINOGRAD

constexpr int POINTS = 16;
constexpr int THREADS = 16 * POINTS;
constexpr int TILES = TILES_X * TILES_Y;
constexpr int TT = TILES / (16 / LANES_F);          // patches of a thread
constexpr int LANES_T = 16 / LANES_F;
constexpr int U_FLOATS = CHANNELS * POINTS * BF;     // a slice of transformed weights
constexpr int V_FLOATS = CHANNELS * POINTS * TILES;  // and of transformed inputs, of which there are two
constexpr int PATCHES = CHANNELS * TILES / THREADS;  // that a thread transforms per slice
constexpr int VECTORS_F = TF / 4, VECTORS_T = TT / 4;
constexpr int OUT_STRIDE = TILES + 4;                // the padding keeps writes off shared banks
constexpr int OUT_CHUNK = 4 * LANES_F;               // filters of one vector of all threads

static_assert(BF == LANES_F * TF && TF % 4 == 0 && TT % 4 == 0 && TILES % LANES_T == 0);
static_assert(CHANNELS * TILES % THREADS == 0 && VECTORS_F % OUT_VECTORS == 0 && THREADS % TILES == 0);

/// The inputs of this thread's patches in the next slice.
struct Patches {
  float values[PATCHES][4][4];

  __device__ __forceinline__ void load(const float* image, int c0, int channels, int height, int width, int tile_y,
                                       int tile_x, bool interior) {
#pragma unroll
    for (int p = 0; p < PATCHES; ++p) {
      const int item = static_cast<int>(threadIdx.x) + p * THREADS;
      const int c = c0 + item / TILES, tile = item % TILES;
      const int y = 2 * (tile_y + tile / TILES_X) - 1, x = 2 * (tile_x + tile % TILES_X) - 1;
      const float* const from = image + static_cast<long long>(c) * (height * width) + y * width + x;
      if (interior && c0 + CHANNELS <= channels) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) values[p][i][j] = __ldg(from + i * width + j);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const bool inside = c < channels && y + i >= 0 && y + i < height && x + j >= 0 && x + j < width;
            values[p][i][j] = inside ? __ldg(from + i * width + j) : 0.0f;
          }
      }
    }
  }

  /// Transforms them into the slice at `v`: [channel][point][tile].
  __device__ __forceinline__ void store(float* v) {
#pragma unroll
    for (int p = 0; p < PATCHES; ++p) {
      const int item = static_cast<int>(threadIdx.x) + p * THREADS;
      float* const to = v + item / TILES * (POINTS * TILES) + item % TILES;
      float rows[4][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        rows[0][j] = values[p][0][j] - values[p][2][j];
        rows[1][j] = values[p][1][j] + values[p][2][j];
        rows[2][j] = values[p][2][j] - values[p][1][j];
        rows[3][j] = values[p][1][j] - values[p][3][j];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        to[(4 * i + 0) * TILES] = rows[i][0] - rows[i][2];
        to[(4 * i + 1) * TILES] = rows[i][1] + rows[i][2];
        to[(4 * i + 2) * TILES] = rows[i][2] - rows[i][1];
        to[(4 * i + 3) * TILES] = rows[i][1] - rows[i][3];
      }
    }
  }
};

__device__ __forceinline__ void copy_weights(float* to, const float* from) {
#pragma unroll
  for (int j = 0; j < U_FLOATS / 4; j += THREADS)
    if (U_FLOATS / 4 % THREADS == 0 || j + static_cast<int>(threadIdx.x) < U_FLOATS / 4)
      copy16(to + (j + static_cast<int>(threadIdx.x)) * 4, from + (j + static_cast<int>(threadIdx.x)) * 4, 16);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    conv2d(int channels, int filters, int height, int width, const float* __restrict__ input,
           const float* __restrict__ weights, float* __restrict__ output, const float* __restrict__ packed) {
  extern __shared__ __align__(16) float shared[];
  float* const v_slices = shared + STAGES * U_FLOATS;

  const int blocks_x = (width + 2 * TILES_X - 1) / (2 * TILES_X), blocks_y = (height + 2 * TILES_Y - 1) / (2 * TILES_Y);
  const int blocks_f = (filters + BF - 1) / BF;
  int block = static_cast<int>(blockIdx.x);
  const int block_f = block % blocks_f;
  block /= blocks_f;
  const int tile_x = block % blocks_x * TILES_X;
  block /= blocks_x;
  const int tile_y = block % blocks_y * TILES_Y, image = block / blocks_y;
  const int plane = height * width;
  const float* const from = input + static_cast<long long>(image) * channels * plane;
  const bool interior = tile_x > 0 && tile_y > 0 && 2 * (tile_x + TILES_X) < width && 2 * (tile_y + TILES_Y) < height;

  const int slices = (channels + CHANNELS - 1) / CHANNELS;
  const float* const u_from = packed + static_cast<long long>(block_f) * slices * U_FLOATS;

  const int point = static_cast<int>(threadIdx.x) / 16, lane = static_cast<int>(threadIdx.x) % 16;
  int lane_t, lane_f;
  if constexpr (LANE_ORDER == 1 && LANES_T > 1 && LANES_F > 1) {
    lane_t = (lane & 1) | ((lane >> 2) % (LANES_T / 2)) << 1;
    lane_f = (lane >> 1 & 1) | ((lane >> 2) / (LANES_T / 2)) << 1;
  } else if constexpr (LANE_ORDER == 2) {
    lane_f = lane % LANES_F;
    lane_t = lane / LANES_F;
  } else {
    lane_t = lane % LANES_T;
    lane_f = lane / LANES_T;
  }

  float sums[TF][TT];
#pragma unroll
  for (int f = 0; f < TF; ++f)
#pragma unroll
    for (int t = 0; t < TT; ++t) sums[f][t] = 0;

  Patches patches;
  patches.load(from, 0, channels, height, width, tile_y, tile_x, interior);
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < slices) copy_weights(shared + s * U_FLOATS, u_from + s * U_FLOATS);
    commit();
  }
  patches.store(v_slices);

  int read_stage = 0, write_stage = STAGES - 1;
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    const bool more = slice + 1 < slices;
    if (slice + STAGES - 1 < slices)
      copy_weights(shared + write_stage * U_FLOATS, u_from + (slice + STAGES - 1) * U_FLOATS);
    commit();
    if (more) patches.load(from, (slice + 1) * CHANNELS, channels, height, width, tile_y, tile_x, interior);
    const float* const u = shared + read_stage * U_FLOATS + point * BF + lane_f * 4;
    const float* const v = v_slices + slice % 2 * V_FLOATS + point * TILES + lane_t * 4;
    write_stage = read_stage;
    read_stage = read_stage == STAGES - 1 ? 0 : read_stage + 1;
#pragma unroll
    for (int c = 0; c < CHANNELS; ++c) {
      float a[TF], b[TT];
#pragma unroll
      for (int f = 0; f < VECTORS_F; ++f) load_vector<4>(&a[4 * f], u + c * (POINTS * BF) + f * OUT_CHUNK);
#pragma unroll
      for (int t = 0; t < VECTORS_T; ++t) load_vector<4>(&b[4 * t], v + c * (POINTS * TILES) + t * (4 * LANES_T));
#pragma unroll
      for (int f = 0; f < TF; ++f)
#pragma unroll
        for (int t0 = 0; t0 < TT; ++t0) {
          const int t = ORDER == 0 || f % 2 == 0 ? t0 : TT - 1 - t0;
          sums[f][t] = fmaf(a[f], b[t], sums[f][t]);
        }
      if (c == (CHANNELS * TRANSFORM_AT - 1) / 4 && more) patches.store(v_slices + (slice + 1) % 2 * V_FLOATS);
    }
  }
  wait_for_copies<0>();

  // The sums of the 16 points meet in shared memory, OUT_VECTORS vectors of filters of each thread at a time.
#pragma unroll
  for (int f0 = 0; f0 < VECTORS_F; f0 += OUT_VECTORS) {
    __syncthreads();
#pragma unroll
    for (int f = 0; f < OUT_VECTORS; ++f)
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int t = 0; t < VECTORS_T; ++t) {
          const float* const sum = &sums[4 * (f0 + f) + e][4 * t];
          *reinterpret_cast<float4*>(shared + ((point * OUT_VECTORS + f) * OUT_CHUNK + 4 * lane_f + e) * OUT_STRIDE +
                                     4 * (t * LANES_T + lane_t)) = make_float4(sum[0], sum[1], sum[2], sum[3]);
        }
    __syncthreads();
    const int tile = static_cast<int>(threadIdx.x) % TILES;
    const int y = 2 * (tile_y + tile / TILES_X), x = 2 * (tile_x + tile % TILES_X);
#pragma unroll 2
    for (int f = static_cast<int>(threadIdx.x) / TILES; f < OUT_VECTORS * OUT_CHUNK; f += THREADS / TILES) {
      float rows[2][4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float m[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          m[i] = shared[((4 * i + j) * OUT_VECTORS * OUT_CHUNK + f) * OUT_STRIDE + tile];
        rows[0][j] = m[0] + m[1] + m[2];
        rows[1][j] = m[1] - m[2] - m[3];
      }
      const int filter = block_f * BF + f0 * OUT_CHUNK + f;
      if (filter >= filters || x >= width) continue;
      float* const out = output + (static_cast<long long>(image) * filters + filter) * plane + y * width + x;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (y + i >= height) continue;
        const float left = rows[i][0] + rows[i][1] + rows[i][2], right = rows[i][1] - rows[i][2] - rows[i][3];
        if (width % 2 == 0) {
          *reinterpret_cast<float2*>(out + i * width) = make_float2(left, right);
        } else {
          out[i * width] = left;
          if (x + 1 < width) out[i * width + 1] = right;
        }
      }
    }
  }
}

/// Transformed weights, zero beyond the last channel and filter: packed[block][channel][point][filter of the block].
extern "C" __global__ void pack(int channels, int filters, const float* __restrict__ weights,
                                float* __restrict__ packed) {
  const int padded = (channels + CHANNELS - 1) / CHANNELS * CHANNELS;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int in_block = i % BF, c = i / BF % padded, filter = i / BF / padded * BF + in_block;
  if (i >= (filters + BF - 1) / BF * BF * padded) return;
  float g[3][3];
  for (int r = 0; r < 3; ++r)
    for (int s = 0; s < 3; ++s)
      g[r][s] = c < channels && filter < filters ? weights[(filter * channels + c) * 9 + r * 3 + s] : 0.0f;
  float rows[4][3];
  for (int s = 0; s < 3; ++s) {
    rows[0][s] = g[0][s];
    rows[1][s] = 0.5f * (g[0][s] + g[1][s] + g[2][s]);
    rows[2][s] = 0.5f * (g[0][s] - g[1][s] + g[2][s]);
    rows[3][s] = g[2][s];
  }
  float* const to = packed + static_cast<long long>(i / BF) * (POINTS * BF) + in_block;
  for (int r = 0; r < 4; ++r) {
    to[(4 * r + 0) * BF] = rows[r][0];
    to[(4 * r + 1) * BF] = 0.5f * (rows[r][0] + rows[r][1] + rows[r][2]);
    to[(4 * r + 2) * BF] = 0.5f * (rows[r][0] - rows[r][1] + rows[r][2]);
    to[(4 * r + 3) * BF] = rows[r][2];
  }
}

#else

constexpr int GROUPS_X = TILE_W / TX;
constexpr int GROUPS_P = GROUPS_X * (TILE_H / TY);
constexpr int GROUPS_F = BF / TF;
constexpr int THREADS = GROUPS_P * GROUPS_F;
constexpr int LANES_P = 32 / LANES_F;
constexpr int WARPS_F = GROUPS_F / LANES_F;
constexpr int IN_H = TILE_H + 2, IN_W = TILE_W + 2;
constexpr int IN_STRIDE = (IN_W + 3) / 4 * 4 + IN_PAD;
constexpr int IN_PLANE = IN_H * IN_STRIDE;
constexpr int W_STRIDE = PACK ? BF : BF + 4;  // the padding keeps the transposing writes off shared banks
constexpr int IN_FLOATS = CHANNELS * IN_PLANE;
constexpr int STAGE_FLOATS = IN_FLOATS + CHANNELS * 9 * W_STRIDE;
constexpr int VECTOR_F = TF % 4 == 0 ? 4 : TF % 2 == 0 ? 2 : 1;
constexpr int UNROLLED = UNROLL;  // a macro is not replaced in a pragma
constexpr int PLACES = (IN_H * IN_W + THREADS - 1) / THREADS;  // of a plane, per thread

static_assert(TILE_W % TX == 0 && TILE_H % TY == 0 && BF % TF == 0 && TX % 2 == 0 && IN_PAD % 4 == 0);
static_assert(GROUPS_F % LANES_F == 0 && GROUPS_P % LANES_P == 0 && THREADS <= 1024 && BF % 4 == 0);

/// What a thread copies; the pointers are those of the block's first channel.
struct Copier {
  int channels, filters, plane;
  const float* input;           // the image
  const float* weights;         // the block's first filter
  int filters_here;
  int offsets[PLACES], bytes[PLACES];
  bool vectors;                 // packed weights in vectors of four

  __device__ __forceinline__ void copy_input(float* buffer, int c0) const {
#pragma unroll
    for (int j = 0; j < PLACES; ++j) {
      const int p = static_cast<int>(threadIdx.x) + j * THREADS;
      if (IN_H * IN_W % THREADS != 0 && p >= IN_H * IN_W) continue;
      float* const to = buffer + p / IN_W * IN_STRIDE + p % IN_W;
      const float* const from = input + static_cast<long long>(c0) * plane + offsets[j];
#pragma unroll
      for (int c = 0; c < CHANNELS; ++c)
        copy4(to + c * IN_PLANE, from + static_cast<long long>(c) * plane, c0 + c < channels ? bytes[j] : 0);
    }
  }

  __device__ __forceinline__ void copy_weights(float* buffer, int c0) const {
    if constexpr (PACK) {
      if (vectors) {
        constexpr int ITEMS = CHANNELS * 9 * (BF / 4);
#pragma unroll
        for (int j = 0; j < (ITEMS + THREADS - 1) / THREADS; ++j) {
          const int i = static_cast<int>(threadIdx.x) + j * THREADS;
          if (ITEMS % THREADS != 0 && i >= ITEMS) continue;
          const int line = i / (BF / 4), f = i % (BF / 4) * 4;
          const bool inside = f < filters_here && c0 * 9 + line < channels * 9;
          copy16(buffer + line * W_STRIDE + f, weights + (c0 * 9 + line) * filters + f, inside ? 16 : 0);
        }
      } else {
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < CHANNELS * 9 * BF; i += THREADS) {
          const int line = i / BF, f = i % BF;
          const bool inside = f < filters_here && c0 * 9 + line < channels * 9;
          copy4(buffer + line * W_STRIDE + f, weights + (inside ? (c0 * 9 + line) * filters + f : 0),
                inside ? 4 : 0);
        }
      }
    } else {
      // Eight neighbours of a filter by four filters a warp: no bank twice.
      constexpr int LINES = (CHANNELS * 9 + 7) / 8;
#pragma unroll
      for (int j = 0; j < (LINES * 8 * BF + THREADS - 1) / THREADS; ++j) {
        const int i = static_cast<int>(threadIdx.x) + j * THREADS;
        const int f = i / 8 % BF, line = i / (8 * BF) * 8 + i % 8;
        if (line >= CHANNELS * 9) continue;
        const bool inside = f < filters_here && c0 * 9 + line < channels * 9;
        copy4(buffer + line * W_STRIDE + f, weights + f * channels * 9 + c0 * 9 + line, inside ? 4 : 0);
      }
    }
  }

  __device__ __forceinline__ void copy(float* buffer, int c0) const {
    copy_input(buffer, c0);
    copy_weights(buffer + IN_FLOATS, c0);
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    conv2d(int channels, int filters, int height, int width, const float* __restrict__ input,
           const float* __restrict__ weights, float* __restrict__ output, const float* __restrict__ packed) {
  extern __shared__ __align__(16) float shared[];

  const int tiles_x = (width + TILE_W - 1) / TILE_W, tiles_y = (height + TILE_H - 1) / TILE_H;
  const int blocks_f = (filters + BF - 1) / BF;
  int tile = static_cast<int>(blockIdx.x);
  const int f0 = tile % blocks_f * BF;
  tile /= blocks_f;
  const int x0 = tile % tiles_x * TILE_W;
  tile /= tiles_x;
  const int y0 = tile % tiles_y * TILE_H, image = tile / tiles_y;
  const int plane = height * width;

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int lane_f, lane_p;
  if constexpr (LANE_ORDER == 1 && LANES_F > 1 && LANES_P > 1) {
    lane_p = (lane & 1) | ((lane >> 2) % (LANES_P / 2)) << 1;
    lane_f = (lane >> 1 & 1) | ((lane >> 2) / (LANES_P / 2)) << 1;
  } else if constexpr (LANE_ORDER == 2) {
    lane_f = lane % LANES_F;
    lane_p = lane / LANES_F;
  } else {
    lane_p = lane % LANES_P;
    lane_f = lane / LANES_P;
  }
  const int group = warp / WARPS_F * LANES_P + lane_p;
  const int thread_x = group % GROUPS_X * TX, thread_y = group / GROUPS_X * TY;
  const int thread_f = warp % WARPS_F * (LANES_F * TF) + lane_f * VECTOR_F;

  Copier copier;
  copier.channels = channels, copier.filters = filters, copier.plane = plane;
  copier.input = input + static_cast<long long>(image) * channels * plane;
  copier.weights = PACK ? packed + f0 : weights + f0 * channels * 9;
  copier.filters_here = min(BF, filters - f0);
  copier.vectors = filters % 4 == 0;
#pragma unroll
  for (int j = 0; j < PLACES; ++j) {
    const int p = static_cast<int>(threadIdx.x) + j * THREADS;
    const int y = y0 + p / IN_W - 1, x = x0 + p % IN_W - 1;
    const bool inside = y >= 0 && y < height && x >= 0 && x < width;
    copier.offsets[j] = inside ? y * width + x : 0;
    copier.bytes[j] = inside ? 4 : 0;
  }

  float sums[TF][TY][TX];
#pragma unroll
  for (int f = 0; f < TF; ++f)
#pragma unroll
    for (int y = 0; y < TY; ++y)
#pragma unroll
      for (int x = 0; x < TX; ++x) sums[f][y][x] = 0;

  const int slices = (channels + CHANNELS - 1) / CHANNELS;
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < slices) copier.copy(shared + s * STAGE_FLOATS, s * CHANNELS);
    commit();
  }

  int read_stage = 0, write_stage = STAGES - 1;
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    const int next = slice + STAGES - 1;
    if (next < slices) copier.copy(shared + write_stage * STAGE_FLOATS, next * CHANNELS);
    commit();
    const float* const in_read = shared + read_stage * STAGE_FLOATS + thread_y * IN_STRIDE + thread_x;
    const float* const w_read = shared + read_stage * STAGE_FLOATS + IN_FLOATS + thread_f;
    write_stage = read_stage;
    read_stage = read_stage == STAGES - 1 ? 0 : read_stage + 1;
#pragma unroll UNROLLED
    for (int c = 0; c < CHANNELS; ++c) {
      float in[TY + 2][TX + 2];
#pragma unroll
      for (int y = 0; y < TY + 2; ++y) {
        const float* const from = in_read + c * IN_PLANE + y * IN_STRIDE;
        if constexpr (TX % 4 == 0) {
#pragma unroll
          for (int x = 0; x < TX; x += 4) load_vector<4>(&in[y][x], from + x);
          load_vector<2>(&in[y][TX], from + TX);
        } else {
#pragma unroll
          for (int x = 0; x < TX + 2; x += 2) load_vector<2>(&in[y][x], from + x);
        }
      }
#pragma unroll
      for (int tap = 0; tap < 9; ++tap) {
        float w[TF];
#pragma unroll
        for (int f = 0; f < TF; f += VECTOR_F)
          load_vector<VECTOR_F>(&w[f], w_read + (c * 9 + tap) * W_STRIDE + f * LANES_F);
#pragma unroll
        for (int f = 0; f < TF; ++f)
#pragma unroll
          for (int y = 0; y < TY; ++y)
#pragma unroll
            for (int x0 = 0; x0 < TX; ++x0) {
              const int x = ORDER == 0 || (f * TY + y) % 2 == 0 ? x0 : TX - 1 - x0;
              sums[f][y][x] = fmaf(w[f], in[y + tap / 3][x + tap % 3], sums[f][y][x]);
            }
      }
    }
  }
  wait_for_copies<0>();

  const bool vectors = TX % 4 == 0 && width % 4 == 0;
#pragma unroll
  for (int f = 0; f < TF; ++f) {
    const int filter = f0 + thread_f + f / VECTOR_F * (LANES_F * VECTOR_F) + f % VECTOR_F;
    if (filter >= filters) continue;
    float* const out = output + (static_cast<long long>(image) * filters + filter) * plane;
#pragma unroll
    for (int ty = 0; ty < TY; ++ty) {
      const int y = y0 + thread_y + ty;
      if (y >= height) continue;
      float* const line = out + y * width + x0 + thread_x;
      const int room = width - x0 - thread_x;
      if (vectors) {
#pragma unroll
        for (int x = 0; x + 3 < TX; x += 4)
          if (x < room)
            *reinterpret_cast<float4*>(line + x) =
                make_float4(sums[f][ty][x], sums[f][ty][x + 1], sums[f][ty][x + 2], sums[f][ty][x + 3]);
      } else {
#pragma unroll
        for (int x = 0; x < TX; ++x)
          if (x < room) line[x] = sums[f][ty][x];
      }
    }
  }
}

/// Weights with the filters innermost: packed[(channel * 9 + tap) * filters + filter].
extern "C" __global__ void pack(int channels, int filters, const float* __restrict__ weights,
                                float* __restrict__ packed) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < channels * 9 * filters) packed[i] = weights[i % filters * channels * 9 + i / filters];
}

#endif  // WINOGRAD
