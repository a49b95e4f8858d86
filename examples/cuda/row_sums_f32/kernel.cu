// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y[r] = sum of row r of x. A group of ROW_THREADS threads takes ROWS rows at a time, UNROLL vectors of each
// in flight; a block holds GROUPS groups. CHAINS sums a thread and row are kept apart until the end.

constexpr int warps = ROW_THREADS > 32 ? ROW_THREADS / 32 : 1;

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

/// A barrier of the group's own. The number is an immediate: one in a register would reserve all 16 for the
/// block.
template <int G = 0>
__device__ __forceinline__ void group_barrier(int index) {
  if constexpr (G + 1 < GROUPS)
    if (index != G) return group_barrier<G + 1>(index);
  asm volatile("bar.sync %0, %1;" ::"n"(G), "n"(ROW_THREADS) : "memory");
}

/// Thread 0 of the group gets the sums. Two buffers in turn make one barrier enough.
__device__ __forceinline__ void reduce(int group, int lane, int& phase, float (&s)[ROWS]) {
  constexpr int width = ROW_THREADS < 32 ? ROW_THREADS : 32;
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int mask = width / 2; mask > 0; mask /= 2) s[r] += __shfl_xor_sync(0xffffffffu, s[r], mask, width);
  if constexpr (warps > 1) {
    __shared__ float scratch[2][GROUPS][ROWS][warps];
    auto& mine = scratch[phase][group];
    if (lane % 32 == 0)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) mine[r][lane / 32] = s[r];
    group_barrier(group);
    if (lane < 32)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if constexpr (SHUFFLE_TAIL && (warps & (warps - 1)) == 0) {
          s[r] = mine[r][lane % warps];
#pragma unroll
          for (int mask = warps / 2; mask > 0; mask /= 2) s[r] += __shfl_xor_sync(0xffffffffu, s[r], mask);
        } else {
          s[r] = mine[r][0];
#pragma unroll
          for (int w = 1; w < warps; ++w) s[r] += mine[r][w];
        }
      }
    phase ^= 1;
  }
}

template <int W>
__device__ __forceinline__ void sum_rows(const float* x, float* y, int count, int cols) {
  const int group = static_cast<int>(threadIdx.x) / ROW_THREADS;
  const int lane = static_cast<int>(threadIdx.x) % ROW_THREADS;
  const int steps = (count + ROWS - 1) / ROWS;
  const int groups = static_cast<int>(gridDim.x) * GROUPS;
  const int me = static_cast<int>(blockIdx.x) * GROUPS + group;
  const int chunk = (steps + groups - 1) / groups;
  // Groups of part of a warp run as often as each other: the shuffles need every lane.
  const int rounds = chunk;
  int phase = 0;
  for (int round = 0; round < rounds; ++round) {
    const int step = CHUNKED ? me * chunk + round : me + round * groups;
    if (ROW_THREADS >= 32 && step >= steps) break;
    const float* row[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) row[r] = x + static_cast<size_t>(min(step * ROWS + r, count - 1)) * cols;
    float s[ROWS][CHAINS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int k = 0; k < CHAINS; ++k) s[r][k] = 0;
    constexpr int span = ROW_THREADS * W * UNROLL;
    int base = 0;
    for (; base + span <= cols; base += span) {
      Pack<W> v[ROWS][UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; ++u)
#pragma unroll
        for (int r = 0; r < ROWS; ++r) v[r][u] = load<W>(row[r] + base + (u * ROW_THREADS + lane) * W);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u)
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
#pragma unroll
          for (int w = 0; w < W; ++w) s[r][(u * W + w) % CHAINS] += v[r][u].v[w];
    }
#pragma unroll 1
    for (int c = base + lane * W; c < cols; c += ROW_THREADS * W)
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const Pack<W> v = load<W>(row[r] + c);
#pragma unroll
        for (int w = 0; w < W; ++w) s[r][w % CHAINS] += v.v[w];
      }
    float total[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int half = CHAINS / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; ++k) s[r][k] += s[r][k + half];
      total[r] = s[r][0];
    }
    reduce(group, lane, phase, total);
    if (lane == 0)
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (step * ROWS + r < count) y[step * ROWS + r] = total[r];
  }
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS* GROUPS, MIN_BLOCKS)
    row_sums(int32_t rows, int32_t cols, const float* __restrict__ x, float* __restrict__ y) {
  if (cols % WIDTH == 0)
    sum_rows<WIDTH>(x, y, rows, cols);
  else
    sum_rows<1>(x, y, rows, cols);
}
