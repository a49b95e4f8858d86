// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = x * rsqrt(mean of x * x + epsilon) * weight along each row. A group of ROW_THREADS threads takes ROWS
// rows at a time; a block holds GROUPS groups.
//   STRATEGY 0  the rows are held in registers: read once, written once
//   STRATEGY 1  a ring of STAGES bulk copies in shared memory runs ahead of the registers
//   STRATEGY 2  two passes over global memory, the second out of the caches; also any row that the other two
//   cannot take
// PARAMETERS says where the weights are read: 0 from global memory at each use, 1 from registers, 2 from
// shared memory.

constexpr int capacity = 4096;  // columns that a group holds on the chip
constexpr int vectors = (capacity + ROW_THREADS * WIDTH - 1) / (ROW_THREADS * WIDTH);
[[maybe_unused]] constexpr bool exact = vectors * ROW_THREADS * WIDTH == capacity;
constexpr int warps = ROW_THREADS / 32;
constexpr int unroll_count = UNROLL;  // the pragma expands no macro

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

// ---- a group of threads and its reductions

struct Group {
  int index;
  int lane;
  int phase;
};

/// Barriers of the groups' own. The number is an immediate: one in a register would reserve all 16 for the
/// block.
template <int G = 0>
__device__ __forceinline__ void group_barrier(int index) {
  if constexpr (G + 1 < GROUPS)
    if (index != G) return group_barrier<G + 1>(index);
  asm volatile("bar.sync %0, %1;" ::"n"(G), "n"(ROW_THREADS) : "memory");
}

__device__ __forceinline__ void sync(const Group& group) {
  if constexpr (warps == 1)
    __syncwarp();
  else
    group_barrier(group.index);
}

__device__ __forceinline__ float exchange(float x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// Every thread of the group gets the reduction of each of the N values. Two buffers in turn make one barrier
/// enough.
template <int N, class T, class Op>
__device__ __forceinline__ void reduce(Group& group, T (&value)[N], Op op) {
  __shared__ alignas(16) T scratch[2][GROUPS][N][warps];
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) value[n] = op(value[n], exchange(value[n], mask));
  if constexpr (warps > 1) {
    auto& mine = scratch[group.phase][group.index];
    if (group.lane % 32 == 0)
#pragma unroll
      for (int n = 0; n < N; ++n) mine[n][group.lane / 32] = value[n];
    sync(group);
#pragma unroll
    for (int n = 0; n < N; ++n) {
      if constexpr (SHUFFLE_TAIL && (warps & (warps - 1)) == 0) {
        value[n] = mine[n][group.lane % warps];
#pragma unroll
        for (int mask = warps / 2; mask > 0; mask /= 2) value[n] = op(value[n], exchange(value[n], mask));
      } else {
        value[n] = mine[n][0];
#pragma unroll
        for (int w = 1; w < warps; ++w) value[n] = op(value[n], mine[n][w]);
      }
    }
    group.phase ^= 1;
  }
}

// ---- weights

#if PARAMETERS == 2
__shared__ alignas(16) float weight_shared[capacity];
#endif

struct Parameters {
  const float* weight;
#if PARAMETERS == 1
  Pack<WIDTH> weights[vectors];
#endif
};

__device__ __forceinline__ Pack<WIDTH> parameter(const float* p, int c) {
#if PARAMETERS == 2
  return *reinterpret_cast<const Pack<WIDTH>*>(p + c);
#else
  Pack<WIDTH> v;
  if constexpr (WIDTH == 4) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(p + c));
    v.v[0] = four.x, v.v[1] = four.y, v.v[WIDTH - 2] = four.z, v.v[WIDTH - 1] = four.w;
  } else if constexpr (WIDTH == 2) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(p + c));
    v.v[0] = two.x, v.v[WIDTH - 1] = two.y;
  } else {
    v.v[0] = __ldg(p + c);
  }
  return v;
#endif
}

/// Loads what is to be at hand for all rows of the group; c is a column of this thread.
template <bool Full>
__device__ __forceinline__ void prepare(const Group& group, Parameters& parameters, int cols) {
#if PARAMETERS == 1
#  pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const int c = (i * ROW_THREADS + group.lane) * WIDTH;
    if (Full || c < cols) {
      parameters.weights[i] = parameter(parameters.weight, c);
    }
  }
#elif PARAMETERS == 2
  for (int c = static_cast<int>(threadIdx.x) * WIDTH; c < cols; c += ROW_THREADS * GROUPS * WIDTH) {
    *reinterpret_cast<Pack<WIDTH>*>(weight_shared + c) =
        *reinterpret_cast<const Pack<WIDTH>*>(parameters.weight + c);
  }
  __syncthreads();
  parameters.weight = weight_shared;
#endif
}

// ---- the function itself, on rows in registers

struct Rows {
  Pack<WIDTH> x[ROWS][vectors];
};

template <bool Full>
__device__ __forceinline__ void transform(Group& group, Rows& rows, const Parameters& parameters, int cols,
                                          float epsilon) {
  float s[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    s[r] = 0;
#pragma unroll
    for (int i = 0; i < vectors; ++i)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) s[r] = fmaf(rows.x[r][i].v[w], rows.x[r][i].v[w], s[r]);
  }
  reduce(group, s, Add{});
#pragma unroll
  for (int r = 0; r < ROWS; ++r) s[r] = rsqrtf(s[r] / static_cast<float>(cols) + epsilon);
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    const int c = (i * ROW_THREADS + group.lane) * WIDTH;
    if (!Full && c >= cols) continue;
#if PARAMETERS == 1
    const Pack<WIDTH> weight = parameters.weights[i];
#else
    const Pack<WIDTH> weight = parameter(parameters.weight, c);
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int w = 0; w < WIDTH; ++w) rows.x[r][i].v[w] *= s[r] * weight.v[w];
  }
}

// ---- moving rows

template <bool Full>
__device__ __forceinline__ void read(const Group& group, Rows& rows, const float* x, int first, int count,
                                     int cols) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float* row = x + static_cast<size_t>(min(first + r, count - 1)) * cols;
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      const int c = (i * ROW_THREADS + group.lane) * WIDTH;
      if (Full || c < cols) {
        rows.x[r][i] = load<WIDTH>(row + c);
      } else {
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) rows.x[r][i].v[w] = 0;
      }
    }
  }
}

template <bool Full>
__device__ __forceinline__ void write(const Group& group, const Rows& rows, float* y, int first, int count,
                                      int cols) {
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (ROWS > 1 && first + r >= count) break;
    float* row = y + static_cast<size_t>(first + r) * cols;
#pragma unroll
    for (int i = 0; i < vectors; ++i) {
      const int c = (i * ROW_THREADS + group.lane) * WIDTH;
      if (Full || c < cols) store<WIDTH>(row + c, rows.x[r][i]);
    }
  }
}

/// The steps (of ROWS rows) of one group: first, first + stride, ... below last.
struct Steps {
  int first, last, stride;
};

__device__ __forceinline__ Steps steps_of(const Group& group, int count) {
  const int steps = (count + ROWS - 1) / ROWS;
  const int groups = static_cast<int>(gridDim.x) * GROUPS;
  const int me = static_cast<int>(blockIdx.x) * GROUPS + group.index;
  if constexpr (CHUNKED) {
    const int chunk = (steps + groups - 1) / groups;
    return {min(me * chunk, steps), min((me + 1) * chunk, steps), 1};
  }
  return {me, steps, groups};
}

template <bool Full>
__device__ __forceinline__ void in_registers(Group& group, const float* x, float* y, Parameters parameters,
                                             int count, int cols, float epsilon) {
  const Steps steps = steps_of(group, count);
  Rows rows;
  prepare<Full>(group, parameters, cols);
  if constexpr (!PERSISTENT) {
    if (steps.first >= steps.last) return;
    read<Full>(group, rows, x, steps.first * ROWS, count, cols);
    transform<Full>(group, rows, parameters, cols, epsilon);
    write<Full>(group, rows, y, steps.first * ROWS, count, cols);
  } else {
    if (PREFETCH && steps.first < steps.last) read<Full>(group, rows, x, steps.first * ROWS, count, cols);
    for (int step = steps.first; step < steps.last; step += steps.stride) {
      Rows next;
      if constexpr (PREFETCH) {
        if (const int later = step + steps.stride; later < steps.last)
          read<Full>(group, next, x, later * ROWS, count, cols);
      } else {
        read<Full>(group, rows, x, step * ROWS, count, cols);
      }
      transform<Full>(group, rows, parameters, cols, epsilon);
      write<Full>(group, rows, y, step * ROWS, count, cols);
      if constexpr (PREFETCH) rows = next;
    }
  }
}

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

#if STRATEGY == 1
template <bool Full>
__device__ __forceinline__ void through_shared(Group& group, const float* x, float* y, Parameters parameters,
                                               int count, int cols, float epsilon) {
  extern __shared__ __align__(128) float ring[];  // behind 1 KiB of barriers
  float* const slots = ring + 256 + group.index * STAGES * ROWS * capacity;
  uint64_t* const full = reinterpret_cast<uint64_t*>(ring) + group.index * STAGES;
  const Steps steps = steps_of(group, count);
  uint64_t policy = 0;
  if (EVICT_FIRST) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));

  const auto fetch = [&](int step, int stage) {
    const unsigned bytes =
        static_cast<unsigned>(min(ROWS, count - step * ROWS)) * static_cast<unsigned>(cols) * 4u;
    const unsigned barrier = shared_address(full + stage);
    const unsigned to = shared_address(slots + stage * ROWS * capacity);
    const float* from = x + static_cast<size_t>(step) * ROWS * cols;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    if constexpr (EVICT_FIRST)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, "
          "[%3], %4;" ::"r"(to),
          "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
          : "memory");
    else
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
          "l"(from), "r"(bytes), "r"(barrier)
          : "memory");
  };

  if (group.lane == 0) {
#  pragma unroll
    for (int s = 0; s < STAGES; ++s)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(full + s)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  sync(group);
  if (group.lane == 0)
    for (int s = 0; s < STAGES; ++s)
      if (const int step = steps.first + s * steps.stride; step < steps.last) fetch(step, s);

  prepare<Full>(group, parameters, cols);
  int stage = 0;
  unsigned parity = 0;
  for (int step = steps.first; step < steps.last; step += steps.stride) {
    {
      const unsigned barrier = shared_address(full + stage);
      unsigned done = 0;
      while (!done)
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    }
    float* const slot = slots + stage * ROWS * capacity;
    Rows rows;
#  pragma unroll
    for (int r = 0; r < ROWS; ++r)
#  pragma unroll
      for (int i = 0; i < vectors; ++i) {
        const int c = (i * ROW_THREADS + group.lane) * WIDTH;
        if (Full || c < cols) {
          rows.x[r][i] = *reinterpret_cast<const Pack<WIDTH>*>(slot + r * cols + c);
        } else {
#  pragma unroll
          for (int w = 0; w < WIDTH; ++w) rows.x[r][i].v[w] = 0;
        }
      }
    if constexpr (!STORE_BULK) {
      // A barrier does not wait for loads on their way, and the next copy writes where they read.
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      sync(group);
      if (const int later = step + STAGES * steps.stride; group.lane == 0 && later < steps.last)
        fetch(later, stage);
      transform<Full>(group, rows, parameters, cols, epsilon);
      write<Full>(group, rows, y, step * ROWS, count, cols);
    } else {
      transform<Full>(group, rows, parameters, cols, epsilon);
#  pragma unroll
      for (int r = 0; r < ROWS; ++r)
#  pragma unroll
        for (int i = 0; i < vectors; ++i) {
          const int c = (i * ROW_THREADS + group.lane) * WIDTH;
          if (Full || c < cols) *reinterpret_cast<Pack<WIDTH>*>(slot + r * cols + c) = rows.x[r][i];
        }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      sync(group);
      if (group.lane == 0) {
        const unsigned bytes =
            static_cast<unsigned>(min(ROWS, count - step * ROWS)) * static_cast<unsigned>(cols) * 4u;
        float* to = y + static_cast<size_t>(step) * ROWS * cols;
        if constexpr (EVICT_FIRST)
          asm volatile(
              "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to),
              "r"(shared_address(slot)), "r"(bytes), "l"(policy)
              : "memory");
        else
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                       "r"(shared_address(slot)), "r"(bytes)
                       : "memory");
        // The slot of the step before is free once its store has read it; waiting for this one's would stall.
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1;" ::: "memory");
        const int later = step + (STAGES - 1) * steps.stride;
        if (step != steps.first && later < steps.last) fetch(later, stage == 0 ? STAGES - 1 : stage - 1);
      }
    }
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1u;
    }
  }
  if (STORE_BULK && group.lane == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

template <int W>
__device__ __forceinline__ void in_two_passes(Group& group, const float* x, float* y,
                                              const Parameters& parameters, int count, int cols,
                                              float epsilon) {
  const Steps steps = steps_of(group, count);
  for (int step = steps.first; step < steps.last; step += steps.stride)
    for (int row = step * ROWS; row < min(step * ROWS + ROWS, count); ++row) {
      const float* from = x + static_cast<size_t>(row) * cols;
      float* to = y + static_cast<size_t>(row) * cols;
      const int start = group.lane * W;
      float s[1] = {0};
      for (int c = start; c < cols; c += ROW_THREADS * W * UNROLL) {
        Pack<W> v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
          if (const int at = c + u * ROW_THREADS * W; at < cols) {
            v[u] = load<W>(from + at);
          } else {
#pragma unroll
            for (int w = 0; w < W; ++w) v[u].v[w] = 0;
          }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
#pragma unroll
          for (int w = 0; w < W; ++w) s[0] = fmaf(v[u].v[w], v[u].v[w], s[0]);
      }
      reduce(group, s, Add{});
      const float scale = rsqrtf(s[0] / static_cast<float>(cols) + epsilon);
#pragma unroll unroll_count
      for (int c = start; c < cols; c += ROW_THREADS * W) {
        Pack<W> v = load<W>(from + c);
        const Pack<W> weight = *reinterpret_cast<const Pack<W>*>(parameters.weight + c);
#pragma unroll
        for (int w = 0; w < W; ++w) v.v[w] *= scale * weight.v[w];
        store<W>(to + c, v);
      }
    }
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS* GROUPS, MIN_BLOCKS)
    rmsnorm(int32_t rows, int32_t cols, float epsilon, const float* __restrict__ x,
            const float* __restrict__ weight, float* __restrict__ y) {
  Group group{static_cast<int>(threadIdx.x) / ROW_THREADS, static_cast<int>(threadIdx.x) % ROW_THREADS, 0};
  Parameters parameters{weight};
  constexpr int unit = STRATEGY == 1 ? 4 : WIDTH;  // bulk copies move multiples of 16 bytes
  if (cols % unit != 0) {
    in_two_passes<1>(group, x, y, parameters, rows, cols, epsilon);
  } else if (STRATEGY == 2 || cols > capacity) {
    in_two_passes<WIDTH>(group, x, y, parameters, rows, cols, epsilon);
  } else {
#if STRATEGY == 1
    if (exact && cols == capacity)
      through_shared<exact>(group, x, y, parameters, rows, cols, epsilon);
    else
      through_shared<false>(group, x, y, parameters, rows, cols, epsilon);
#elif STRATEGY == 0
    if (exact && cols == capacity)
      in_registers<exact>(group, x, y, parameters, rows, cols, epsilon);
    else
      in_registers<false>(group, x, y, parameters, rows, cols, epsilon);
#endif
  }
}
