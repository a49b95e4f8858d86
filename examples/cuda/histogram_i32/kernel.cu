// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// counts[b] = how many of n values equal b, for 256 bins.
//   METHOD 0  COPIES histograms of a block in shared memory, counted by atomics; INTERLEAVED puts the copies
//   of a bin side by side,
//             so that with 32 of them no two lanes of a warp meet in a bank
//   METHOD 1  counters of BITS bits for each thread alone, no atomics; those of a lane lie in its own bank,
//   whatever the values
// MERGE 0 adds the blocks' histograms by atomics on global memory, 1 by a second kernel.

constexpr int bins = 256;
constexpr int blocks = 132 * BLOCKS_PER_SM;
constexpr int chunk = THREADS * WIDTH * UNROLL;

#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)

struct alignas(4 * WIDTH) Pack {
  int v[WIDTH];
};

__device__ __forceinline__ Pack load(const int* p) {
  Pack x;
#if WIDTH == 4
  asm volatile("ld.global" TEXT(LOAD) ".v4.s32 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.v[0]), "=r"(x.v[1]), "=r"(x.v[2]), "=r"(x.v[3])
               : "l"(p));
#elif WIDTH == 2
  asm volatile("ld.global" TEXT(LOAD) ".v2.s32 {%0,%1}, [%2];" : "=r"(x.v[0]), "=r"(x.v[1]) : "l"(p));
#else
  asm volatile("ld.global" TEXT(LOAD) ".s32 %0, [%1];" : "=r"(x.v[0]) : "l"(p));
#endif
  return x;
}

struct Batch {
  Pack v[UNROLL];
  __device__ __forceinline__ int operator[](int i) const { return v[i / WIDTH].v[i % WIDTH]; }
};
constexpr int batch_size = WIDTH * UNROLL;

extern __shared__ __align__(128) unsigned storage[];

#if METHOD == 0
struct Counters {
  unsigned* mine;

  __device__ Counters() {
    for (int i = static_cast<int>(threadIdx.x); i < bins * COPIES; i += THREADS) storage[i] = 0;
    __syncthreads();
    mine = INTERLEAVED ? storage + threadIdx.x % COPIES : storage + threadIdx.x / 32 % COPIES * bins;
  }

  __device__ __forceinline__ void add(int bin, unsigned n) {
    atomicAdd(mine + (INTERLEAVED ? bin * COPIES : bin), n);
  }

  __device__ __forceinline__ void add(const Batch& batch) {
#  if AGGREGATE == 0
#    pragma unroll
    for (int i = 0; i < batch_size; ++i) add(batch[i], 1u);
#  elif AGGREGATE == 1  // runs of equal values in a thread
    int bin = batch[0];
    unsigned n = 1;
#    pragma unroll
    for (int i = 1; i < batch_size; ++i) {
      if (batch[i] != bin) {
        add(bin, n);
        bin = batch[i];
        n = 0;
      }
      ++n;
    }
    add(bin, n);
#  else  // equal values in a warp, if the warp's first value is common
#    pragma unroll
    for (int i = 0; i < batch_size; ++i) {
      const unsigned equal = __ballot_sync(0xffffffffu, batch[i] == __shfl_sync(0xffffffffu, batch[i], 0));
      if (!(equal & 1u << threadIdx.x % 32))
        add(batch[i], 1u);
      else if (threadIdx.x % 32 == 0)
        add(batch[i], static_cast<unsigned>(__popc(equal)));
    }
#  endif
  }

  __device__ __forceinline__ void one(int bin) { add(bin, 1u); }

  __device__ __forceinline__ void finish() { __syncthreads(); }

  __device__ __forceinline__ unsigned total(int bin) const {
    unsigned sum = 0;
    for (int c = 0; c < COPIES; ++c)  // begins at another copy in every lane: another bank
      sum += INTERLEAVED ? storage[bin * COPIES + (c + bin) % COPIES] : storage[c * bins + bin];
    return sum;
  }
};
#else
#  if BITS == 8
using Counter = uint8_t;
#  elif BITS == 16
using Counter = uint16_t;
#  else
using Counter = uint32_t;
#  endif

constexpr int per_word = 32 / BITS;
constexpr int words = bins / per_word;  // of a lane
constexpr unsigned limit = BITS == 32 ? 0xffffffffu : (1u << BITS % 32) - 1u;

/// Adds the counters of the warp to the block's totals: a lane takes every 32nd word, a different column
/// each time.
__device__ __noinline__ void flush_counters(unsigned* warp, unsigned* totals) {
  __syncwarp();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int w = lane; w < words; w += 32) {
    unsigned sum[per_word] = {};
#  pragma unroll 8
    for (int c = 0; c < 32; ++c) {
      const unsigned word = warp[w * 32 + (c + lane) % 32];
#  pragma unroll
      for (int k = 0; k < per_word; ++k) sum[k] += per_word == 1 ? word : (word >> k * BITS % 32) & limit;
    }
#  pragma unroll
    for (int k = 0; k < per_word; ++k) atomicAdd(totals + w * per_word + k, sum[k]);
  }
  __syncwarp();
  for (int w = 0; w < words; ++w) warp[w * 32 + lane] = 0;
  __syncwarp();
}

struct Counters {
  unsigned* const totals = storage + words * THREADS;
  unsigned* const warp = storage + threadIdx.x / 32 * words * 32;
  unsigned since = 0;

  __device__ Counters() {
    for (int i = static_cast<int>(threadIdx.x); i < words * THREADS + bins; i += THREADS) storage[i] = 0;
    __syncthreads();
  }

  /// Word bin / per_word of the lane; words of a lane are 32 apart, so that all lie in one bank.
  __device__ __forceinline__ Counter* counter(int bin) const {
    constexpr int mask = per_word - 1;
    auto* const lane = reinterpret_cast<Counter*>(warp + threadIdx.x % 32);
    return lane + (bin & ~mask) * 32 + (bin & mask);
  }

  __device__ __forceinline__ void one(int bin) { *counter(bin) = static_cast<Counter>(*counter(bin) + 1); }

  /// GROUP counters are read before the first is written back; a later one of the same bin counts the earlier
  /// ones too.
  __device__ __forceinline__ void add(const Batch& batch) {
    if (since > limit - batch_size) flush();
    since += batch_size;
#  pragma unroll
    for (int i = 0; i < batch_size; i += GROUP) {
      Counter* at[GROUP];
      unsigned n[GROUP];
#  pragma unroll
      for (int k = 0; k < GROUP; ++k) {
        at[k] = counter(batch[i + k]);
        n[k] = *at[k] + 1u;
      }
#  pragma unroll
      for (int k = 0; k < GROUP; ++k) {
#  pragma unroll
        for (int j = 0; j < k; ++j) n[k] += at[j] == at[k];
        *at[k] = static_cast<Counter>(n[k]);
      }
    }
  }

  __device__ __forceinline__ void flush() {
    flush_counters(warp, totals);
    since = 0;
  }

  __device__ __forceinline__ void finish() {
    flush();
    __syncthreads();
  }

  __device__ __forceinline__ unsigned total(int bin) const { return totals[bin]; }
};
#endif

__device__ __forceinline__ void read(Batch& batch, const int* values, int at) {
#pragma unroll
  for (int u = 0; u < UNROLL; ++u)
    batch.v[u] = load(values + static_cast<size_t>(at) * chunk +
                      (u * THREADS + static_cast<int>(threadIdx.x)) * WIDTH);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    histogram(int32_t n, const int32_t* __restrict__ values, int32_t* __restrict__ counts,
              uint32_t* __restrict__ partial) {
  Counters counters;
  const int chunks = n / chunk;
  const int mine = (chunks + blocks - 1) / blocks;
  const int block = static_cast<int>(blockIdx.x);
  const int first = CHUNKED ? min(block * mine, chunks) : block;
  const int last = CHUNKED ? min((block + 1) * mine, chunks) : chunks;
  constexpr int stride = CHUNKED ? 1 : blocks;
  Batch batch;
  if (PREFETCH && first < last) read(batch, values, first);
#pragma unroll 1
  for (int at = first; at < last; at += stride) {
    if constexpr (PREFETCH) {
      Batch next;
      if (at + stride < last) read(next, values, at + stride);
      counters.add(batch);
      batch = next;
    } else {
      read(batch, values, at);
      counters.add(batch);
    }
  }
  // Less than a chunk is left, so less than batch_size for each thread.
#if METHOD == 1
  if (counters.since > limit - batch_size) counters.flush();
#endif
  for (int i = chunks * chunk + block * THREADS + static_cast<int>(threadIdx.x); i < n; i += blocks * THREADS)
    counters.one(values[i]);
  counters.finish();
  for (int bin = static_cast<int>(threadIdx.x); bin < bins; bin += THREADS) {
    const unsigned total = counters.total(bin);
#if MERGE == 0
    if (total != 0) atomicAdd(counts + bin, static_cast<int>(total));
#else
    partial[block * bins + bin] = total;
#endif
  }
}

/// One warp for each bin, eight to a block: their reads share sectors.
extern "C" __global__ void __launch_bounds__(256)
    merge(int32_t* __restrict__ counts, const uint32_t* __restrict__ partial) {
  __shared__ unsigned sums[32][9];
  const int bin = static_cast<int>(threadIdx.x) % 8, row = static_cast<int>(threadIdx.x) / 8;
  unsigned sum = 0;
#pragma unroll 4
  for (int b = row; b < blocks; b += 32) sum += partial[b * bins + static_cast<int>(blockIdx.x) * 8 + bin];
  sums[row][bin] = sum;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  sum = sums[lane][warp];
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (lane == 0) counts[static_cast<int>(blockIdx.x) * 8 + warp] = static_cast<int>(sum);
}
