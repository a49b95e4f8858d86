// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 3 x 3 convolution with padding 1 in single precision on the CUDA cores: input N x C x H x W, weights
// K x C x 3 x 3, output N x K x H x W. A block computes BF filters on TILE_H x TILE_W pixels of one image; cp.async
// brings CHANNELS channels at a time, the pixels with their border (zeros outside the image) and the weights
// with the filters innermost, into a ring of STAGES buffers. A thread computes TF filters on TY x TX pixels from
// (TY + 2) x (TX + 2) inputs in registers. With PACK the weights are brought into their order beforehand.

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
