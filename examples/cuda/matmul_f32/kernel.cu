// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C = A B in single precision on the CUDA cores, row-major: A is n x k, B is k x m, C is n x m.
// A block computes a BM x BN tile of C over its share of k, in slices of BK that cp.async brings into a ring of
// STAGES buffers; a warp computes LANES_M x LANES_N thread tiles of TM x TN. B is kept in shared memory as it
// comes. A is kept as it comes too (A_LOAD 0; a thread then reads four values of k at once) or transposed, by
// four-byte copies (1) or on its way through registers (2). k is split over SPLIT_K blocks, whose sums are added
// atomically or by `reduce`.

constexpr int LANES_N = 32 / LANES_M;
constexpr int WARP_M = LANES_M * TM;
constexpr int WARP_N = LANES_N * TN;
constexpr int WARPS_N = BN / WARP_N;
constexpr int THREADS = BM / TM * (BN / TN);
constexpr int VECTOR_M = A_LOAD == 0 ? 1 : TM % 4 == 0 ? 4 : TM % 2 == 0 ? 2 : 1;  // neighbouring rows of a thread
constexpr int VECTOR_N = TN % 4 == 0 ? 4 : TN % 2 == 0 ? 2 : 1;
constexpr int A_STRIDE = A_LOAD == 0 ? BK + 4 : BM + 4;  // the padding keeps reads and writes off shared banks
constexpr int A_FLOATS = A_LOAD == 0 ? BM * A_STRIDE : BK * A_STRIDE;
constexpr int STAGE_FLOATS = A_FLOATS + BK * BN;
constexpr int A_STEP = A_LOAD == 0 ? 4 : 1;  // values of k that one load of A's fragment brings
constexpr int A_VECTORS = (BM * BK / 4 + THREADS - 1) / THREADS;

static_assert(BM % WARP_M == 0 && BN % WARP_N == 0 && BK % 4 == 0 && STAGES >= 2 && THREADS <= 1024);
static_assert(BK / A_STEP % FRAGMENTS == 0, "a slice's last fragment would be overwritten by the next slice's first");

__device__ __forceinline__ void copy16(float* to, const float* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from));
}

__device__ __forceinline__ void copy4(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from));
}

/// Four bytes, or zero where `inside` is false; `from` is always a valid address.
__device__ __forceinline__ void copy4_or_zero(float* to, const float* from, bool inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(inside ? 4 : 0));
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

/// Where an element of A's slice lies in its buffer.
__device__ __forceinline__ int a_place(int row, int column) {
  return A_LOAD == 0 ? row * A_STRIDE + column : column * A_STRIDE + row;
}

struct Block {
  int n, m, k;
  const float* a;      // at the block's first row
  const float* b;      // at the block's first column
  int rows, columns;   // of the tile that lie inside C
  int k_begin, k_end;  // of this block's share
  bool vectors;        // whole tile inside, and rows of A and B begin at multiples of 16 bytes
};

/// Starts copying slice `slice` into its buffer, element by element and with zeros outside: edges of C, the
/// last values of k, and rows that are not aligned.
__device__ __forceinline__ void copy_slice_guarded(const Block& block, float* buffer, int k0) {
#pragma unroll 1
  for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
    const int row = i / BK, column = i % BK;
    const bool inside = row < block.rows && k0 + column < block.k_end;
    copy4_or_zero(buffer + a_place(row, column),
                  inside ? block.a + static_cast<long long>(row) * block.k + k0 + column : block.a, inside);
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
    const int row = i / BN, column = i % BN;
    const bool inside = column < block.columns && k0 + row < block.k_end;
    copy4_or_zero(buffer + A_FLOATS + i,
                  inside ? block.b + static_cast<long long>(k0 + row) * block.m + column : block.b, inside);
  }
}

/// What this thread copies of whole slices; the pointers move on by a slice with each copy.
struct Copier {
  static constexpr int NEAR = BK < 8 ? BK : 8;  // A_LOAD 1: so many values of k by 32 / NEAR rows a warp
  static constexpr int A_COPIES = A_LOAD == 1 ? (BM * BK + THREADS - 1) / THREADS : A_VECTORS;
  static constexpr int A_ITEMS = A_LOAD == 1 ? BM * BK : BM * BK / 4;
  static constexpr int B_COPIES = (BN * BK / 4 + THREADS - 1) / THREADS;

  const float* a;
  const float* b;
  int a_to, b_to;

  static __device__ __forceinline__ int a_row(int i) {
    return A_LOAD == 0 ? i / (BK / 4) : A_LOAD == 1 ? i / NEAR % BM : i % BM;
  }
  static __device__ __forceinline__ int a_column(int i) {
    return A_LOAD == 0   ? i % (BK / 4) * 4
           : A_LOAD == 1 ? i / (NEAR * BM) * NEAR + i % NEAR
                         : i / BM * 4;
  }
  static __device__ __forceinline__ int b_row(int i) { return i / (BN / 4); }
  static __device__ __forceinline__ int b_column(int i) { return i % (BN / 4) * 4; }

  __device__ __forceinline__ Copier(const Block& block) {
    const int i = static_cast<int>(threadIdx.x);
    a = block.a + static_cast<long long>(a_row(i)) * block.k + block.k_begin + a_column(i);
    b = block.b + static_cast<long long>(block.k_begin + b_row(i)) * block.m + b_column(i);
    a_to = a_place(a_row(i), a_column(i));
    b_to = A_FLOATS + b_row(i) * BN + b_column(i);
  }

  /// How far the thread's j-th piece lies from its first: known where all threads move alike.
  static constexpr bool A_ALIKE = A_LOAD == 0   ? THREADS % (BK / 4) == 0
                                  : A_LOAD == 1 ? (BM * NEAR) % THREADS == 0 && THREADS % NEAR == 0
                                                : BM % THREADS == 0 || THREADS % BM == 0;
  static constexpr bool B_ALIKE = THREADS % (BN / 4) == 0 || (BN / 4) % THREADS == 0;

  template <class Use>
  __device__ __forceinline__ void each_a(const Block& block, Use use) const {
#pragma unroll
    for (int j = 0; j < A_COPIES; ++j) {
      const int i = static_cast<int>(threadIdx.x) + j * THREADS;
      if (A_ITEMS % THREADS != 0 && i >= A_ITEMS) continue;
      if constexpr (A_ALIKE) {
        const int row = a_row(j * THREADS), column = a_column(j * THREADS);
        use(j, a_to + a_place(row, column), a + static_cast<long long>(row) * block.k + column);
      } else {
        const int t = static_cast<int>(threadIdx.x);
        const int row = a_row(i) - a_row(t), column = a_column(i) - a_column(t);
        use(j, a_to + a_place(row, column), a + static_cast<long long>(row) * block.k + column);
      }
    }
  }

  __device__ __forceinline__ void copy(const Block& block, float* buffer) {
    if constexpr (A_LOAD == 0) {
      each_a(block, [&](int, int to, const float* from) { copy16(buffer + to, from); });
    } else if constexpr (A_LOAD == 1) {
      each_a(block, [&](int, int to, const float* from) { copy4(buffer + to, from); });
    }
#pragma unroll
    for (int j = 0; j < B_COPIES; ++j) {
      const int t = static_cast<int>(threadIdx.x), i = t + j * THREADS;
      if (BN * BK / 4 % THREADS != 0 && i >= BN * BK / 4) continue;
      const int row = B_ALIKE ? b_row(j * THREADS) : b_row(i) - b_row(t);
      const int column = B_ALIKE ? b_column(j * THREADS) : b_column(i) - b_column(t);
      copy16(buffer + b_to + row * BN + column, b + static_cast<long long>(row) * block.m + column);
    }
  }

  /// To be called after the slice's copy.
  __device__ __forceinline__ void move_on(const Block& block) {
    a += BK;
    b += static_cast<long long>(BK) * block.m;
  }

  /// A_LOAD 2: A's slice into registers, and from there to its buffer.
  __device__ __forceinline__ void load(const Block& block, float (*staged)[4]) const {
    each_a(block, [&](int j, int, const float* from) { load_vector<4>(staged[j], from); });
  }
  __device__ __forceinline__ void store(const Block& block, const float (*staged)[4], float* buffer) const {
    each_a(block, [&](int j, int to, const float*) {
#pragma unroll
      for (int e = 0; e < 4; ++e) buffer[to + a_place(0, e)] = staged[j][e];
    });
  }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    matmul(int n, int m, int k, const float* __restrict__ a, const float* __restrict__ b,
           float* __restrict__ c, float* __restrict__ partial) {
  extern __shared__ __align__(16) float shared[];

  // Blocks go down GROUP rows of tiles before they move to the next column of tiles, to share B in the cache.
  const int tiles_n = (n + BM - 1) / BM, tiles_m = (m + BN - 1) / BN;
  const int tile = static_cast<int>(blockIdx.x);
  const int first = tile / (GROUP * tiles_m) * GROUP;
  const int height = min(GROUP, tiles_n - first);
  const int within = tile % (GROUP * tiles_m);
  const int row0 = (first + within % height) * BM;
  const int column0 = within / height * BN;
  const int part = static_cast<int>(blockIdx.y);

  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int lane_m, lane_n;
  if constexpr (LANE_ORDER == 1 && LANES_M > 1 && LANES_N > 1) {
    // Lanes in squares of two by two: half-warps then read vectors of A and of B in one go each.
    lane_n = (lane & 1) | ((lane >> 2) % (LANES_N / 2)) << 1;
    lane_m = (lane >> 1 & 1) | ((lane >> 2) / (LANES_N / 2)) << 1;
  } else {
    lane_n = lane % LANES_N;
    lane_m = lane / LANES_N;
  }
  const int thread_m = warp / WARPS_N * WARP_M + lane_m * VECTOR_M;
  const int thread_n = warp % WARPS_N * WARP_N + lane_n * VECTOR_N;

  Block block;
  block.n = n, block.m = m, block.k = k;
  block.a = a + static_cast<long long>(row0) * k;
  block.b = b + column0;
  block.rows = min(BM, n - row0), block.columns = min(BN, m - column0);
  const int slices_all = (k + BK - 1) / BK;
  const int share = (slices_all + SPLIT_K - 1) / SPLIT_K;
  block.k_begin = min(k, part * share * BK), block.k_end = min(k, (part + 1) * share * BK);
  block.vectors = block.rows == BM && block.columns == BN && k % 4 == 0 && m % 4 == 0;
  const int slices = (block.k_end - block.k_begin + BK - 1) / BK;
  const int whole_slices = block.vectors ? (block.k_end - block.k_begin) / BK : 0;

  float sums[TM][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i)
#pragma unroll
    for (int j = 0; j < TN; ++j) sums[i][j] = 0;

  float staged[A_VECTORS][4];
  Copier copier(block);
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; ++s) {
    const int k0 = block.k_begin + s * BK;
    if (s < whole_slices) {
      copier.copy(block, shared + s * STAGE_FLOATS);
      if constexpr (A_LOAD == 2) {
        copier.load(block, staged);
        copier.store(block, staged, shared + s * STAGE_FLOATS);
      }
      copier.move_on(block);
    } else if (s < slices) {
      copy_slice_guarded(block, shared + s * STAGE_FLOATS, k0);
    }
    commit();
  }
  wait_for_copies<STAGES - 2>();
  __syncthreads();

  float a_values[FRAGMENTS][TM][A_STEP];
  float b_values[FRAGMENTS][TN];
  const float* a_read = shared + (A_LOAD == 0 ? thread_m * A_STRIDE : thread_m);
  const float* b_read = shared + A_FLOATS + thread_n;
  const auto load_fragments = [&](const float* a_from, const float* b_from, int kk) {
    if constexpr (A_LOAD == 0) {
      if (kk % 4 == 0) {
#pragma unroll
        for (int i = 0; i < TM; ++i)
          load_vector<4>(a_values[kk / 4 % FRAGMENTS][i], a_from + i * LANES_M * A_STRIDE + kk);
      }
    } else {
#pragma unroll
      for (int i = 0; i < TM; i += VECTOR_M)
        load_vector<VECTOR_M>(&a_values[kk % FRAGMENTS][i][0], a_from + kk * A_STRIDE + i * LANES_M);
    }
#pragma unroll
    for (int j = 0; j < TN; j += VECTOR_N)
      load_vector<VECTOR_N>(&b_values[kk % FRAGMENTS][j], b_from + kk * BN + j * LANES_N);
  };
  const auto multiply = [&](int kk) {
    const int fa = kk / A_STEP % FRAGMENTS, fb = kk % FRAGMENTS, e = kk % A_STEP;
    if constexpr (ORDER == 2) {
#pragma unroll
      for (int j = 0; j < TN; ++j)
#pragma unroll
        for (int i0 = 0; i0 < TM; ++i0) {
          const int i = j % 2 == 0 ? i0 : TM - 1 - i0;
          sums[i][j] = fmaf(a_values[fa][i][e], b_values[fb][j], sums[i][j]);
        }
    } else {
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j0 = 0; j0 < TN; ++j0) {
          const int j = ORDER == 0 || i % 2 == 0 ? j0 : TN - 1 - j0;
          sums[i][j] = fmaf(a_values[fa][i][e], b_values[fb][j], sums[i][j]);
        }
    }
  };

  int read_stage = 0, write_stage = STAGES - 1;
  if constexpr (FRAGMENTS == 2) load_fragments(a_read, b_read, 0);
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice) {
    const int next = slice + STAGES - 1;
    float* const write = shared + write_stage * STAGE_FLOATS;
    const bool stage_next = A_LOAD == 2 && next < whole_slices;
#pragma unroll
    for (int kk = 0; kk < BK; ++kk) {
      if constexpr (FRAGMENTS == 1) load_fragments(a_read, b_read, kk);
      if (FRAGMENTS == 2 && kk + 1 < BK) load_fragments(a_read, b_read, kk + 1);
      if (kk == 0) {
        const int k0 = block.k_begin + next * BK;
        if (__builtin_expect(next < whole_slices, 1)) {
          copier.copy(block, write);
          if constexpr (A_LOAD == 2) copier.load(block, staged);
          copier.move_on(block);
        } else if (__builtin_expect(next < slices, 0)) {
          copy_slice_guarded(block, write, k0);
        }
        commit();
      }
      if (kk + 1 < BK || FRAGMENTS == 1) multiply(kk);
      if (kk + 1 == BK) {
        if (stage_next) copier.store(block, staged, write);
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        write_stage = read_stage;
        const int step = read_stage == STAGES - 1 ? -(STAGES - 1) * STAGE_FLOATS : STAGE_FLOATS;
        read_stage = read_stage == STAGES - 1 ? 0 : read_stage + 1;
        a_read += step, b_read += step;
        if constexpr (FRAGMENTS == 2) {
          load_fragments(a_read, b_read, 0);
          multiply(kk);
        }
      }
    }
  }
  wait_for_copies<0>();

  float* const out = SPLIT_K > 1 && !ATOMIC ? partial + static_cast<long long>(part) * n * m : c;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = thread_m + i / VECTOR_M * (LANES_M * VECTOR_M) + i % VECTOR_M;
    if (row >= block.rows) continue;
    float* const line = out + static_cast<long long>(row0 + row) * m + column0;
#pragma unroll
    for (int j = 0; j < TN; j += VECTOR_N) {
      const int column = thread_n + j * LANES_N;
      if constexpr (SPLIT_K > 1 && ATOMIC) {
#pragma unroll
        for (int e = 0; e < VECTOR_N; ++e)
          if (column + e < block.columns) atomicAdd(line + column + e, sums[i][j + e]);
      } else if (VECTOR_N == 4 && block.vectors) {
        *reinterpret_cast<float4*>(line + column) =
            make_float4(sums[i][j], sums[i][j + 1 < TN ? j + 1 : j], sums[i][j + 2 < TN ? j + 2 : j],
                        sums[i][j + 3 < TN ? j + 3 : j]);
      } else {
#pragma unroll
        for (int e = 0; e < VECTOR_N; ++e)
          if (column + e < block.columns) line[column + e] = sums[i][j + e];
      }
    }
  }
}

/// Adds the sums of the SPLIT_K parts.
extern "C" __global__ void reduce(int n, int m, const float* __restrict__ partial, float* __restrict__ c) {
  const long long size = static_cast<long long>(n) * m;
  const long long i = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (size % 4 == 0) {
    if (i >= size) return;
    float4 sum = *reinterpret_cast<const float4*>(partial + i);
#pragma unroll
    for (int part = 1; part < SPLIT_K; ++part) {
      const float4 v = *reinterpret_cast<const float4*>(partial + part * size + i);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    *reinterpret_cast<float4*>(c + i) = sum;
  } else {
    for (long long e = i; e < i + 4 && e < size; ++e) {
      float sum = 0;
      for (int part = 0; part < SPLIT_K; ++part) sum += partial[part * size + e];
      c[e] = sum;
    }
  }
}
