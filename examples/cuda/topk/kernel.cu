// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The k largest of each row with their columns, largest first, the earlier one first among equals. A block takes a row.
// Floats become keys whose order as whole numbers is theirs. Passes over the row find the k-th largest key, BITS
// of it at a time from the top, by counting those that agree in the bits decided so far; then the larger ones and as
// many of the equal ones as are needed are gathered and sorted.

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int bins = 1 << BITS;

#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)

struct alignas(4 * WIDTH) Pack {
  float v[WIDTH];
};

__device__ __forceinline__ Pack load(const float* p) {
#ifdef __CUDA_ARCH__
  Pack x;
#  if WIDTH == 4
  asm volatile("ld.global" TEXT(LOAD) ".v4.f32 {%0,%1,%2,%3}, [%4];"
               : "=f"(x.v[0]), "=f"(x.v[1]), "=f"(x.v[2]), "=f"(x.v[3])
               : "l"(p));
#  elif WIDTH == 2
  asm volatile("ld.global" TEXT(LOAD) ".v2.f32 {%0,%1}, [%2];" : "=f"(x.v[0]), "=f"(x.v[1]) : "l"(p));
#  else
  asm volatile("ld.global" TEXT(LOAD) ".f32 %0, [%1];" : "=f"(x.v[0]) : "l"(p));
#  endif
  return x;
#else
  return *reinterpret_cast<const Pack*>(p);
#endif
}

/// Adding 0 makes one zero of the two.
__device__ __forceinline__ uint32_t key_of(float value) {
  const uint32_t bits = __float_as_uint(value + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float value_of(uint32_t key) {
  return __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
}

extern __shared__ __align__(16) unsigned char storage[];

/// What the block knows of its row. Results come first in shared memory: they are of eight bytes.
struct Row {
  const float* from;
  int cols;
  uint64_t* results;   // key above, column below with its bits turned round, so that larger ones come first
  unsigned* counters;  // COPIES histograms, one after another
  uint32_t* keys;      // of the whole row, where they are kept
};

/// Calls `each(key, column)` for every element of the row, from memory or, after the first time, from where it
/// was kept. Every lane of a warp calls as often as the others; `column` is negative where there is no element.
template <bool First, class Each>
__device__ __forceinline__ void for_each(const Row& row, Each&& each) {
  const int t = static_cast<int>(threadIdx.x);
  if constexpr (KEEP && !First) {
    for (int base = 0; base < row.cols; base += THREADS * UNROLL)
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) {
        const int c = base + u * THREADS + t;
        each(c < row.cols ? row.keys[c] : 0, c < row.cols ? c : -1);
      }
  } else {
    const auto give = [&](float value, int column) {
      const uint32_t key = key_of(value);
      if (KEEP && column >= 0) row.keys[column] = key;
      each(key, column);
    };
    int base = 0;
    if (row.cols % WIDTH == 0) {  // so that every row begins at a multiple of a vector
      constexpr int span = THREADS * WIDTH * UNROLL;
      for (; base + span <= row.cols; base += span) {
        Pack v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) v[u] = load(row.from + base + (u * THREADS + t) * WIDTH);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
#pragma unroll
          for (int w = 0; w < WIDTH; ++w) give(v[u].v[w], base + (u * THREADS + t) * WIDTH + w);
      }
    }
    for (; base < row.cols; base += THREADS) {
      const int c = base + t;
      give(c < row.cols ? row.from[c] : 0.0f, c < row.cols ? c : -1);
    }
  }
}

/// What is decided of the k-th largest key.
struct Decided {
  int bits;         // from the top
  uint32_t prefix;  // those bits
  int needed;       // of the elements that have them
  int there;        // elements that have them
};

__device__ __forceinline__ bool agrees(uint32_t key, const Decided& decided) {
  return decided.bits == 0 || key >> (32 - decided.bits) == decided.prefix;
}

/// Counts the next bits of the elements that agree with what is decided.
template <bool First>
__device__ __forceinline__ void count(const Row& row, const Decided& decided, int digit_bits) {
  const int t = static_cast<int>(threadIdx.x), shift = 32 - decided.bits - digit_bits;
  for (int i = t; i < bins * COPIES; i += THREADS) row.counters[i] = 0;
  __syncthreads();
  unsigned* const mine = row.counters + t / 32 % COPIES * bins;
  for_each<First>(row, [&](uint32_t key, int column) {
    const bool counts = column >= 0 && agrees(key, decided);
    const unsigned digit = key >> shift & ((1u << digit_bits) - 1);
    if constexpr (AGGREGATE) {
      unsigned open = __ballot_sync(all_lanes, counts);
      // Two rounds meet what is common in a warp; the rest is counted one by one.
      bool done = !counts;
#pragma unroll
      for (int round = 0; round < 2; ++round) {
        if (open == 0) break;
        const int leader = __ffs(static_cast<int>(open)) - 1;
        const unsigned common = __shfl_sync(all_lanes, digit, leader);
        const unsigned equal = __ballot_sync(all_lanes, !done && digit == common);
        if (t % 32 == leader) atomicAdd(mine + common, static_cast<unsigned>(__popc(equal)));
        done = done || digit == common;
        open &= ~equal;
      }
      if (!done) atomicAdd(mine + digit, 1u);
    } else if (counts) {
      atomicAdd(mine + digit, 1u);
    }
  });
  __syncthreads();
}

/// Finds the bin of the `needed`-th largest; by one warp, whose lanes add up stretches of bins.
__device__ __forceinline__ void choose(const Row& row, Decided& decided, int digit_bits) {
  __shared__ Decided chosen;
  const int t = static_cast<int>(threadIdx.x);
  if (t < 32) {
    constexpr int stretch = bins / 32 > 0 ? bins / 32 : 1;
    const auto of_bin = [&](int bin) {
      unsigned sum = 0;
      for (int c = 0; c < COPIES; ++c) sum += row.counters[c * bins + bin];
      return static_cast<int>(sum);
    };
    // Lane 0 has the largest bins.
    const int top = bins - 1 - t * stretch;
    int mine = 0;
    for (int i = 0; i < stretch; ++i)
      if (top - i >= 0) mine += of_bin(top - i);
    int through = mine;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(all_lanes, through, distance);
      if (t >= distance) through += other;
    }
    int above = through - mine;
    if (above < decided.needed && decided.needed <= through) {  // in one lane
      int bin = top;
      for (;; --bin) {
        const int here = of_bin(bin);
        if (above + here >= decided.needed) {
          chosen = {decided.bits + digit_bits, decided.prefix << digit_bits | static_cast<uint32_t>(bin),
                    decided.needed - above, here};
          break;
        }
        above += here;
      }
    }
  }
  __syncthreads();
  decided = chosen;
}

__device__ __forceinline__ uint64_t result_of(uint32_t key, int column) {
  return static_cast<uint64_t>(key) << 32 | ~static_cast<uint32_t>(column);
}

/// Puts the k results, in any order, to the front of `results`.
__device__ __forceinline__ void gather(const Row& row, const Decided& decided, int k) {
  __shared__ int taken, equal_before;
  __shared__ int of_warps[THREADS / 32];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) taken = equal_before = 0;
  __syncthreads();
  const bool all_equal = decided.needed == decided.there;
  const auto above = [&](uint32_t key) { return key >> (32 - decided.bits) > decided.prefix; };
  for_each<false>(row, [&](uint32_t key, int column) {
    if (column >= 0 && (above(key) || (all_equal && agrees(key, decided))))
      row.results[atomicAdd(&taken, 1)] = result_of(key, column);
  });
  __syncthreads();
  if (all_equal) return;
  // More are equal than are needed: the first ones, so in the order of columns, a block's width at a time.
  for (int base = 0; base < row.cols && equal_before < decided.needed; base += THREADS) {
    const int column = base + t;
    const uint32_t key = column < row.cols ? key_of(row.from[column]) : 0;
    const bool equal = column < row.cols && agrees(key, decided);
    const unsigned lanes = __ballot_sync(all_lanes, equal);
    if (t % 32 == 0) of_warps[t / 32] = __popc(lanes);
    __syncthreads();
    int rank = equal_before + __popc(lanes & ((1u << t % 32) - 1)), sum = 0;
    for (int w = 0; w < THREADS / 32; ++w) {
      if (w < t / 32) rank += of_warps[w];
      sum += of_warps[w];
    }
    if (equal && rank < decided.needed) row.results[k - decided.needed + rank] = result_of(key, column);
    __syncthreads();
    if (t == 0) equal_before += sum;
    __syncthreads();
  }
}

/// Sorts `size` results, a power of two, largest first (Batcher's bitonic network).
__device__ __forceinline__ void sort(uint64_t* results, int size) {
  for (int width = 2; width <= size; width *= 2)
    for (int distance = width / 2; distance > 0; distance /= 2) {
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += THREADS) {
        const int low = i / distance * distance * 2 + i % distance, high = low + distance;
        const uint64_t a = results[low], b = results[high];
        if ((a < b) == ((low & width) == 0)) {
          results[low] = b;
          results[high] = a;
        }
      }
      __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    topk(int32_t rows, int32_t cols, int32_t k, const float* __restrict__ x, float* __restrict__ values,
         int32_t* __restrict__ columns) {
  int size = 1;
  while (size < k) size *= 2;
  Row row;
  row.from = x + static_cast<size_t>(blockIdx.x) * cols;
  row.cols = cols;
  row.results = reinterpret_cast<uint64_t*>(storage);
  row.counters = reinterpret_cast<unsigned*>(row.results + size);
  row.keys = row.counters + bins * COPIES;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < size; i += THREADS) row.results[i] = 0;  // behind every result

  Decided decided{0, 0, k, cols};
  count<true>(row, decided, BITS);
  choose(row, decided, BITS);
  while (decided.bits < 32 && !(EARLY && decided.needed == decided.there)) {
    const int digit_bits = min(BITS, 32 - decided.bits);
    count<false>(row, decided, digit_bits);
    choose(row, decided, digit_bits);
  }
  gather(row, decided, k);
  __syncthreads();
  sort(row.results, size);
  for (int i = t; i < k; i += THREADS) {
    const uint64_t result = row.results[i];
    const size_t at = static_cast<size_t>(blockIdx.x) * k + i;
    values[at] = value_of(static_cast<uint32_t>(result >> 32));
    columns[at] = static_cast<int32_t>(~static_cast<uint32_t>(result));
  }
}
