// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention, forward: O = softmax(scale * Q K^T) V for every head; arrays are heads x s x 128, half
// precision, sums in single precision. CAUSAL: row i sees keys 0..i only.
//
// FlashAttention-3 (Shah et al., 2024) for Hopper: one producer warp copies tiles by TMA into a ring of
// shared memory slots; CONSUMERS warpgroups hold 64 query rows each and run both products by wgmma with an
// online softmax in registers between them. OVERLAP issues the scores of the next tile before the softmax of
// this one; PINGPONG lets one warpgroup's products run under another's softmax. With CLUSTER 2, two blocks
// work on neighbouring rows of one head; each copies one half of every tile of K and V, to both.
//
// attention_f16 and attention_f16_causal share it; their build flags set CAUSAL.
#include <cuda_fp16.h>

#ifndef CAUSAL
#  define CAUSAL 0
#endif

#ifndef KERNELSEARCH_TENSOR_MAP
#  define KERNELSEARCH_TENSOR_MAP
struct alignas(64) CUtensorMap {
  unsigned long long opaque[16];
};
#endif

namespace {

constexpr int head_size = 128;
constexpr int rows_per_group = 64;
constexpr int block_rows = rows_per_group * CONSUMERS;
constexpr int threads = 128 * (CONSUMERS + 1);
constexpr int row_bytes = 128;  // of a half tile: a tile lies as columns 0..63, then columns 64..127
constexpr int query_bytes = block_rows * 2 * row_bytes;
constexpr int slot_bytes = BN * 2 * row_bytes;
constexpr int barrier_offset = query_bytes + SLOTS * slot_bytes;
// Masked scores. A power of two, so that its product with the scale is exact and fully masked rows stay
// finite.
constexpr float masked_score = -1.2676506002282294e30f;

// What each role keeps of the registers that the block has at its start.
#if CONSUMERS == 3
#  define PRODUCER_REGISTERS 32
#  define CONSUMER_REGISTERS 160
#elif CONSUMERS == 2
#  define PRODUCER_REGISTERS 24
#  define CONSUMER_REGISTERS 240
#elif BLOCKS_PER_SM == 2
#  define PRODUCER_REGISTERS 24
#  define CONSUMER_REGISTERS 232
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define OUT8(r, i)                                                                            \
  "+f"(r[i]), "+f"(r[i + 1]), "+f"(r[i + 2]), "+f"(r[i + 3]), "+f"(r[i + 4]), "+f"(r[i + 5]), \
      "+f"(r[i + 6]), "+f"(r[i + 7])
#define LIST0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define LIST8 "%8, %9, %10, %11, %12, %13, %14, %15"
#define LIST16 "%16, %17, %18, %19, %20, %21, %22, %23"
#define LIST24 "%24, %25, %26, %27, %28, %29, %30, %31"
#define LIST32 "%32, %33, %34, %35, %36, %37, %38, %39"
#define LIST40 "%40, %41, %42, %43, %44, %45, %46, %47"
#define LIST48 "%48, %49, %50, %51, %52, %53, %54, %55"
#define LIST56 "%56, %57, %58, %59, %60, %61, %62, %63"
#define LIST64 "%64, %65, %66, %67, %68, %69, %70, %71"
#define LIST72 "%72, %73, %74, %75, %76, %77, %78, %79"
#define LIST80 "%80, %81, %82, %83, %84, %85, %86, %87"
#define LIST88 "%88, %89, %90, %91, %92, %93, %94, %95"

// wgmma's register list, inputs and flag for BN columns, which are BN / 2 registers.
#if BN == 32
#  define SCORE_LIST LIST0 ", " LIST8
#  define SCORE_OUTPUTS(s) OUT8(s, 0), OUT8(s, 8)
#  define SCORE_INPUTS "%16, %17"
#  define SCORE_FLAG "%18"
#elif BN == 48
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16
#  define SCORE_OUTPUTS(s) OUT8(s, 0), OUT8(s, 8), OUT8(s, 16)
#  define SCORE_INPUTS "%24, %25"
#  define SCORE_FLAG "%26"
#elif BN == 64
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16 ", " LIST24
#  define SCORE_OUTPUTS(s) OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24)
#  define SCORE_INPUTS "%32, %33"
#  define SCORE_FLAG "%34"
#elif BN == 80
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32
#  define SCORE_OUTPUTS(s) OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32)
#  define SCORE_INPUTS "%40, %41"
#  define SCORE_FLAG "%42"
#elif BN == 96
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40
#  define SCORE_OUTPUTS(s) OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40)
#  define SCORE_INPUTS "%48, %49"
#  define SCORE_FLAG "%50"
#elif BN == 112
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48
#  define SCORE_OUTPUTS(s) \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48)
#  define SCORE_INPUTS "%56, %57"
#  define SCORE_FLAG "%58"
#elif BN == 128
#  define SCORE_LIST LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56
#  define SCORE_OUTPUTS(s) \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48), OUT8(s, 56)
#  define SCORE_INPUTS "%64, %65"
#  define SCORE_FLAG "%66"
#elif BN == 144
#  define SCORE_LIST \
    LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56 ", " LIST64
#  define SCORE_OUTPUTS(s)                                                                                \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48), OUT8(s, 56), \
        OUT8(s, 64)
#  define SCORE_INPUTS "%72, %73"
#  define SCORE_FLAG "%74"
#elif BN == 160
#  define SCORE_LIST                                                                                     \
    LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56 ", " LIST64 \
          ", " LIST72
#  define SCORE_OUTPUTS(s)                                                                                \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48), OUT8(s, 56), \
        OUT8(s, 64), OUT8(s, 72)
#  define SCORE_INPUTS "%80, %81"
#  define SCORE_FLAG "%82"
#elif BN == 176
#  define SCORE_LIST                                                                                     \
    LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56 ", " LIST64 \
          ", " LIST72 ", " LIST80
#  define SCORE_OUTPUTS(s)                                                                                \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48), OUT8(s, 56), \
        OUT8(s, 64), OUT8(s, 72), OUT8(s, 80)
#  define SCORE_INPUTS "%88, %89"
#  define SCORE_FLAG "%90"
#elif BN == 192
#  define SCORE_LIST                                                                                     \
    LIST0 ", " LIST8 ", " LIST16 ", " LIST24 ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56 ", " LIST64 \
          ", " LIST72 ", " LIST80 ", " LIST88
#  define SCORE_OUTPUTS(s)                                                                                \
    OUT8(s, 0), OUT8(s, 8), OUT8(s, 16), OUT8(s, 24), OUT8(s, 32), OUT8(s, 40), OUT8(s, 48), OUT8(s, 56), \
        OUT8(s, 64), OUT8(s, 72), OUT8(s, 80), OUT8(s, 88)
#  define SCORE_INPUTS "%96, %97"
#  define SCORE_FLAG "%98"
#endif

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  }
}

/// Arrives at the barrier of the same place in a block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(uint32_t barrier, uint32_t block) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
}

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Copies one box at (column, row, head) of a map into shared memory.
__device__ __forceinline__ void copy_in(uint32_t target, const CUtensorMap& map, uint32_t barrier, int column,
                                        int row, int head) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], "
      "[%2];" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(column), "r"(row), "r"(head)
      : "memory");
}

/// The same, into shared memory of both blocks of the cluster; each one's barrier hears of it.
__device__ __forceinline__ void copy_in_both(uint32_t target, const CUtensorMap& map, uint32_t barrier,
                                             int column, int row, int head) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], "
      "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(target),
      "l"(reinterpret_cast<uint64_t>(&map)), "r"(barrier), "r"(column), "r"(row), "r"(head),
      "h"(static_cast<uint16_t>(3))
      : "memory");
}

__device__ __forceinline__ void copy_out(const CUtensorMap& map, uint32_t source, int column, int row,
                                         int head) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
                   reinterpret_cast<uint64_t>(&map)),
               "r"(source), "r"(column), "r"(row), "r"(head)
               : "memory");
}

/// A shared-memory matrix descriptor: 128-byte swizzle, 1024 bytes between groups of eight rows, `leading`
/// bytes between the halves of a tile (read of V only, whose rows are the dimension that is summed over).
__device__ __forceinline__ uint64_t matrix_descriptor(uint32_t address, uint32_t leading) {
  return (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32) | (uint64_t{leading >> 4} << 16) |
         ((address & 0x3FFFF) >> 4);
}

__device__ __forceinline__ void products_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/// Keeps the compiler from moving arithmetic on registers that wgmma reads or writes.
template <int N>
__device__ __forceinline__ void pin(float (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
template <int N>
__device__ __forceinline__ void pin(uint32_t (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(r[i])::"memory");
}

/// s (+)= 64 query rows times BN keys, over 16 of the 128 columns.
__device__ __forceinline__ void multiply_scores(float (&s)[BN / 2], uint64_t q, uint64_t k, int accumulate) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " SCORE_FLAG
               ", 0;\n"
               "wgmma.mma_async.sync.aligned.m64n" TEXT(BN) "k16.f32.f16.f16 {" SCORE_LIST "}, " SCORE_INPUTS
                                                            ", p, 1, 1, 0, 0;\n}"
               : SCORE_OUTPUTS(s)
               : "l"(q), "l"(k), "r"(accumulate));
}

/// o += weights of 16 keys times their rows of V, which is read along its columns.
__device__ __forceinline__ void multiply_values(float (&o)[64], uint32_t p0, uint32_t p1, uint32_t p2,
                                                uint32_t p3, uint64_t v) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" LIST0 ", " LIST8 ", " LIST16 ", " LIST24
      ", " LIST32 ", " LIST40 ", " LIST48 ", " LIST56 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
      : OUT8(o, 0), OUT8(o, 8), OUT8(o, 16), OUT8(o, 24), OUT8(o, 32), OUT8(o, 40), OUT8(o, 48), OUT8(o, 56)
      : "r"(p0), "r"(p1), "r"(p2), "r"(p3), "l"(v));
}

__device__ __forceinline__ float exp2_unit(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Fitted for the least relative error on [-1/2, 1/2].
constexpr float exp2_c0 = 0.999928073f;
constexpr float exp2_c1 = 0.693260986f;
constexpr float exp2_c2 = 0.242611133f;
constexpr float exp2_c3 = 0.055171669f;

/// 2^x, x <= 0 (or a little above), on the multiply-add pipes: round, then a cubic on [-1/2, 1/2] (relative
/// error 1e-4, well under the rounding to half precision that follows).
__device__ __forceinline__ float exp2_polynomial(float x) {
  x = fmaxf(x, -126.0f);
  const float shifted = x + 12582912.0f;
  const float fraction = x - (shifted - 12582912.0f);
  float p = fmaf(fraction, exp2_c3, exp2_c2);
  p = fmaf(p, fraction, exp2_c1);
  p = fmaf(p, fraction, exp2_c0);
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFF, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xFFFFFFFF, x, 2));
}

__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFF, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFF, x, 2);
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&pair);
}

/// A place in the ring of slots.
struct Ring {
  uint32_t slot = 0;
  uint32_t phase = 0;
  __device__ __forceinline__ void advance() {
    if (++slot == SLOTS) {
      slot = 0;
      phase ^= 1;
    }
  }
};

/// The number of this block's (or cluster's) tile of a round.
__device__ __forceinline__ int number_of(int round, int round_tiles) {
  const int place = blockIdx.x / CLUSTER;
  return round * round_tiles + (SNAKE && round % 2 == 1 ? round_tiles - 1 - place : place);
}

struct Tile {
  int row, head, key_blocks;
};

/// The tile of a number. Tiles of HEAD_GROUP heads are neighbours, so that their keys stay in the cache;
/// among them, those with the most keys come first.
__device__ __forceinline__ Tile tile_of(int number, int s, int heads, int rank) {
  const int row_tiles = (s + CLUSTER * block_rows - 1) / (CLUSTER * block_rows);
  const int group = number / (HEAD_GROUP * row_tiles);
  const int rest = number - group * (HEAD_GROUP * row_tiles);
  const int members = min(HEAD_GROUP, heads - group * HEAD_GROUP);
  int tile = rest / members;
  const int head = group * HEAD_GROUP + rest - tile * members;
  if (CAUSAL) tile = row_tiles - 1 - tile;
  const int keys = CAUSAL ? min(s, (tile + 1) * (CLUSTER * block_rows)) : s;
  return {(tile * CLUSTER + rank) * block_rows, head, (keys + BN - 1) / BN};
}

/// The running softmax of one thread's two rows: `row` and `row + 8` of its warp's sixteen.
struct Softmax {
  float maximum[2], sum[2];
  float scale;  // of the scores, in powers of two

  /// Turns scores into weights; returns by what earlier weights must be multiplied.
  template <bool First>
  __device__ __forceinline__ void weigh(float (&s)[BN / 2], float (&factor)[2]) {
    float highest[4] = {s[0], s[2], s[1], s[3]};
#pragma unroll
    for (int i = 4; i < BN / 2; i += 4) {
      highest[0] = fmaxf(highest[0], s[i]);
      highest[2] = fmaxf(highest[2], s[i + 1]);
      highest[1] = fmaxf(highest[1], s[i + 2]);
      highest[3] = fmaxf(highest[3], s[i + 3]);
    }
    float offset[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float next = quad_max(fmaxf(highest[r], highest[r + 2]));
      if (First) {
        factor[r] = 0.0f;
      } else {
        next = fmaxf(next, maximum[r]);
#if LAZY_RESCALE > 0
        // Weights up to 2^LAZY_RESCALE are harmless in half precision; so most tiles rescale nothing.
        if ((next - maximum[r]) * scale <= LAZY_RESCALE) next = maximum[r];
#endif
        factor[r] = exp2_unit((maximum[r] - next) * scale);
      }
      maximum[r] = next;
      offset[r] = next * scale;
    }
    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) {
      const int r = (i / 2) % 2;
      const float x = fmaf(s[i], scale, -offset[r]);
      s[i] = i % 16 < EXP_POLYNOMIAL ? exp2_polynomial(x) : exp2_unit(x);
      part[i % 4] += s[i];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float added = part[2 * r] + part[2 * r + 1];
      sum[r] = First ? added : fmaf(sum[r], factor[r], added);
    }
  }
};

__device__ __forceinline__ void rescale(float (&o)[64], const float (&factor)[2]) {
#if LAZY_RESCALE > 0
  if (!__any_sync(0xFFFFFFFF, factor[0] != 1.0f || factor[1] != 1.0f)) return;
#endif
#pragma unroll
  for (int i = 0; i < 64; ++i) o[i] *= factor[(i / 2) % 2];
}

__device__ __forceinline__ void pack_weights(uint32_t (&p)[BN / 4], const float (&s)[BN / 2]) {
#pragma unroll
  for (int i = 0; i < BN / 4; ++i) p[i] = pack(s[2 * i], s[2 * i + 1]);
}

/// One consumer warpgroup's view of the block.
struct Consumer {
  uint32_t group, lane, warp;  // the warpgroup, the thread's lane, its warp in the group
  uint32_t slots, full, empty;
  uint64_t query;
  Ring ring;

  __device__ __forceinline__ uint32_t take() {
    const uint32_t slot = ring.slot;
    barrier_wait(full + 8 * slot, ring.phase);
    ring.advance();
    return slot;
  }

  __device__ __forceinline__ void release(uint32_t slot) const {
#if CLUSTER == 1
    if (lane == 0) barrier_arrive(empty + 8 * slot);
#else
    if (lane < CLUSTER) barrier_arrive_at(empty + 8 * slot, lane);
#endif
  }

  __device__ __forceinline__ void scores(float (&s)[BN / 2], uint32_t slot) const {
    const uint64_t key = matrix_descriptor(slots + slot * slot_bytes, 0);
    pin(s);
    products_fence();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      multiply_scores(s, query + (i / 4) * (block_rows * row_bytes >> 4) + (i % 4) * 2,
                      key + (i / 4) * (BN * row_bytes >> 4) + (i % 4) * 2, i > 0);
    }
    products_commit();
  }

  __device__ __forceinline__ void values(float (&o)[64], uint32_t (&p)[BN / 4], uint32_t slot) const {
    const uint64_t value = matrix_descriptor(slots + slot * slot_bytes, BN * row_bytes);
    pin(o);
    pin(p);
    products_fence();
#pragma unroll
    for (int i = 0; i < BN / 16; ++i) {
      multiply_values(o, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3],
                      value + i * (16 * row_bytes >> 4));
    }
    products_commit();
  }

  // Warpgroups take turns in issuing products: each waits for its barrier and then opens the next one's.
  __device__ __forceinline__ void turn_begin() const {
    if (PINGPONG) asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
  }
  __device__ __forceinline__ void turn_end() const {
    if (PINGPONG) {
      asm volatile("bar.arrive %0, 256;" ::"r"(1 + (group + 1 == CONSUMERS ? 0 : group + 1)) : "memory");
    }
  }
};

/// Hides the keys that a row may not see; `column` is this thread's first key, `row` its first row.
__device__ __forceinline__ void mask(float (&s)[BN / 2], int column, int row, int keys) {
  const int limit0 = (CAUSAL ? min(row + 1, keys) : keys) - column;
  const int limit1 = (CAUSAL ? min(row + 9, keys) : keys) - column;
#pragma unroll
  for (int i = 0; i < BN / 2; ++i) {
    const int offset = i / 4 * 8 + i % 2;
    if (offset >= ((i / 2) % 2 == 0 ? limit0 : limit1)) s[i] = masked_score;
  }
}

/// Folds one more tile of keys into o.
template <bool Masked>
__device__ __forceinline__ void fold(Consumer& consumer, Softmax& softmax, float (&s)[BN / 2], float (&o)[64],
                                     uint32_t (&p)[BN / 4], int column, int row, int keys) {
  float factor[2];
  const uint32_t key_slot = consumer.take();
#if OVERLAP
  consumer.turn_begin();
  consumer.scores(s, key_slot);
  const uint32_t value_slot = consumer.take();
  consumer.values(o, p, value_slot);
  consumer.turn_end();
  products_wait<1>();
  pin(s);
  consumer.release(key_slot);
  if (Masked) mask(s, column, row, keys);
  softmax.weigh<false>(s, factor);
  products_wait<0>();
  pin(o);
  pin(p);
  consumer.release(value_slot);
  rescale(o, factor);
  pack_weights(p, s);
#else
  consumer.turn_begin();
  consumer.scores(s, key_slot);
  products_wait<0>();
  pin(s);
  consumer.turn_end();
  consumer.release(key_slot);
  if (Masked) mask(s, column, row, keys);
  softmax.weigh<false>(s, factor);
  rescale(o, factor);
  pack_weights(p, s);
  const uint32_t value_slot = consumer.take();
  consumer.values(o, p, value_slot);
  products_wait<0>();
  pin(o);
  pin(p);
  consumer.release(value_slot);
#endif
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, BLOCKS_PER_SM)
    attention(int32_t s, int32_t heads, float scale, const __half* __restrict__, const __half* __restrict__,
              const __half* __restrict__, __half* __restrict__ o, const __grid_constant__ CUtensorMap map_q,
              const __grid_constant__ CUtensorMap map_k, const __grid_constant__ CUtensorMap map_v,
              const __grid_constant__ CUtensorMap map_o) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const uint32_t base = shared_address(memory);
  const uint32_t slots = base + query_bytes;
  const uint32_t query_full = base + barrier_offset;
  const uint32_t query_empty = query_full + 8;
  const uint32_t full = query_full + 16;
  const uint32_t empty = full + 8 * SLOTS;
  const uint32_t group = __shfl_sync(0xFFFFFFFF, threadIdx.x / 128, 0);
  const int rank = CLUSTER == 1 ? 0 : cluster_rank();
  const int tiles = (s + CLUSTER * block_rows - 1) / (CLUSTER * block_rows) * heads;
  const int round_tiles = gridDim.x / CLUSTER;

  if (threadIdx.x == 0) {
    barrier_init(query_full, 1);
    barrier_init(query_empty, 4 * CONSUMERS);
    for (int i = 0; i < SLOTS; ++i) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, CLUSTER * 4 * CONSUMERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
#if CLUSTER == 1
  __syncthreads();
#else
  cluster_sync();
#endif

  if (group == 0) {
#ifdef PRODUCER_REGISTERS
    asm volatile("setmaxnreg.dec.sync.aligned.u32 " TEXT(PRODUCER_REGISTERS) ";");
#endif
    if (threadIdx.x == 0) {
      Ring ring;
      uint32_t query_phase = 0;
      const auto load = [&](const CUtensorMap& map, int row, int head) {
        const uint32_t barrier = full + 8 * ring.slot;
        const uint32_t target = slots + ring.slot * slot_bytes;
        barrier_wait(empty + 8 * ring.slot, ring.phase ^ 1);
        barrier_expect(barrier, slot_bytes);
#if CLUSTER == 1
        copy_in(target, map, barrier, 0, row, head);
        copy_in(target + slot_bytes / 2, map, barrier, 64, row, head);
#else
        copy_in_both(target + rank * (slot_bytes / 2), map, barrier, 64 * rank, row, head);
#endif
        ring.advance();
      };
      for (int round = 0; round * round_tiles < tiles; ++round) {
        const int number = number_of(round, round_tiles);
        if (number >= tiles) continue;
        const Tile tile = tile_of(number, s, heads, rank);
        barrier_wait(query_empty, query_phase ^ 1);
        barrier_expect(query_full, query_bytes);
        copy_in(base, map_q, query_full, 0, tile.row, tile.head);
        copy_in(base + query_bytes / 2, map_q, query_full, 64, tile.row, tile.head);
        query_phase ^= 1;
        int row = (tile.key_blocks - 1) * BN;
        load(map_k, row, tile.head);
        for (; row > 0; row -= BN) {
          if (OVERLAP) load(map_k, row - BN, tile.head);
          load(map_v, row, tile.head);
          if (!OVERLAP) load(map_k, row - BN, tile.head);
        }
        load(map_v, 0, tile.head);
      }
    }
  } else {
#ifdef CONSUMER_REGISTERS
    asm volatile("setmaxnreg.inc.sync.aligned.u32 " TEXT(CONSUMER_REGISTERS) ";");
#endif
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t warp = __shfl_sync(0xFFFFFFFF, threadIdx.x / 32 % 4, 0);
    Consumer consumer{group - 1, lane, warp, slots, full, empty, 0, {}};
    consumer.query = matrix_descriptor(base + consumer.group * rows_per_group * row_bytes, 0);
    // The last warpgroup lets the first one begin.
    if (consumer.group == CONSUMERS - 1) consumer.turn_end();

    uint32_t query_phase = 0;
    for (int round = 0; round * round_tiles < tiles; ++round) {
      const int number = number_of(round, round_tiles);
      if (number >= tiles) continue;
      const Tile tile = tile_of(number, s, heads, rank);
      const int group_row = tile.row + consumer.group * rows_per_group;
      const int row = group_row + warp * 16 + lane / 4;
      const int unmasked = CAUSAL ? min(group_row + 1, s) / BN : s / BN;
      int block = tile.key_blocks - 1;
      int column = block * BN + lane % 4 * 2;

      float scores[BN / 2];
      float output[64];
      uint32_t weights[BN / 4];
      float factor[2];
      Softmax softmax;
      softmax.scale = scale * 1.4426950408889634f;
#pragma unroll
      for (int i = 0; i < 64; ++i) output[i] = 0.0f;

      barrier_wait(query_full, query_phase);
      query_phase ^= 1;
      const uint32_t first = consumer.take();
      consumer.turn_begin();
      consumer.scores(scores, first);
      consumer.turn_end();
      products_wait<0>();
      pin(scores);
      consumer.release(first);
      if (block >= unmasked) mask(scores, column, row, s);
      softmax.weigh<true>(scores, factor);
      pack_weights(weights, scores);
#if !OVERLAP
      {
        const uint32_t slot = consumer.take();
        consumer.values(output, weights, slot);
        products_wait<0>();
        pin(output);
        pin(weights);
        consumer.release(slot);
      }
#endif
      --block;
      column -= BN;
#if CAUSAL
      for (; block >= unmasked; --block, column -= BN) {
        fold<true>(consumer, softmax, scores, output, weights, column, row, s);
      }
#endif
      for (; block >= 0; --block, column -= BN) {
        fold<false>(consumer, softmax, scores, output, weights, column, row, s);
      }
#if EPILOGUE != 2
      // The query tile has been read; the next one may come.
      if (lane == 0) barrier_arrive(query_empty);
#endif
#if OVERLAP
      {
        const uint32_t slot = consumer.take();
        consumer.values(output, weights, slot);
        products_wait<0>();
        pin(output);
        pin(weights);
        consumer.release(slot);
      }
#endif

      float inverse[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) inverse[r] = 1.0f / quad_sum(softmax.sum[r]);
      uint32_t words[32];  // pairs of columns; even ones of `row`, odd ones of `row + 8`
#pragma unroll
      for (int i = 0; i < 32; ++i)
        words[i] = pack(output[2 * i] * inverse[i % 2], output[2 * i + 1] * inverse[i % 2]);

#if EPILOGUE == 0
      // Four bytes a thread, sixteen a row.
      uint32_t* const target =
          reinterpret_cast<uint32_t*>(o + (static_cast<int64_t>(tile.head) * s + row) * head_size) + lane % 4;
#  pragma unroll
      for (int i = 0; i < 16; ++i) {
        if (row < s) target[4 * i] = words[2 * i];
        if (row + 8 < s) target[8 * head_size / 2 + 4 * i] = words[2 * i + 1];
      }
#elif EPILOGUE == 1
      // Transposed among four threads first: sixteen bytes a thread, 64 a row.
      uint4* const target =
          reinterpret_cast<uint4*>(o + (static_cast<int64_t>(tile.head) * s + row) * head_size) + lane % 4;
#  pragma unroll
      for (int i = 0; i < 4; ++i) {
#  pragma unroll
        for (int r = 0; r < 2; ++r) {
          uint32_t w[4] = {words[8 * i + r], words[8 * i + 2 + r], words[8 * i + 4 + r],
                           words[8 * i + 6 + r]};
#  pragma unroll
          for (int step = 1; step <= 2; step *= 2) {
#  pragma unroll
            for (int a = 0; a < 4; ++a) {
              if ((a & step) != 0) continue;
              const bool upper = (lane & step) != 0;
              const uint32_t got = __shfl_xor_sync(0xFFFFFFFF, upper ? w[a] : w[a + step], step);
              w[a] = upper ? got : w[a];
              w[a + step] = upper ? w[a + step] : got;
            }
          }
          if (row + 8 * r < s) target[r * (8 * head_size / 8) + 4 * i] = make_uint4(w[0], w[1], w[2], w[3]);
        }
      }
#else
      // Through this warpgroup's own rows of the query tile, which only it read, and out by TMA.
      const uint32_t rows = base + consumer.group * rows_per_group * row_bytes;
      const uint32_t line = rows + (warp * 16 + lane % 16) * row_bytes;
#  pragma unroll
      for (int i = 0; i < 8; ++i) {
        const uint32_t chunk = (2 * (i % 4) + lane / 16) ^ (lane % 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         line + (i / 4) * (query_bytes / 2) + chunk * 16),
                     "r"(words[4 * i]), "r"(words[4 * i + 1]), "r"(words[4 * i + 2]), "r"(words[4 * i + 3])
                     : "memory");
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("bar.sync %0, 128;" ::"r"(1 + CONSUMERS + consumer.group) : "memory");
      if (warp == 0 && lane == 0) {
        copy_out(map_o, rows, 0, group_row, tile.head);
        copy_out(map_o, rows + query_bytes / 2, 64, group_row, tile.head);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      }
      asm volatile("bar.sync %0, 128;" ::"r"(1 + CONSUMERS + consumer.group) : "memory");
      if (lane == 0) barrier_arrive(query_empty);
#endif
    }
  }
#if CLUSTER > 1
  // A block stays until the other one writes and arrives here no more.
  __syncwarp();
  cluster_sync();
#endif
}
