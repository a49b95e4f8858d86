// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step of PageRank on a graph of which every vertex has `degree` incoming edges. LANES threads share the
// edges of a vertex and read VECTOR sources at a time. With SHARES, a first kernel divides each rank by the
// vertex's edges once.

struct alignas(4 * VECTOR) Sources {
  int32_t v[VECTOR];
};

extern "C" __global__ void __launch_bounds__(THREADS)
    shares(int32_t n, const float* __restrict__ rank, const float* __restrict__ inverse,
           float* __restrict__ given) {
  const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
  if (i < n) given[i] = rank[i] * inverse[i];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    pagerank(int32_t n, int32_t degree, const int32_t* __restrict__ source, const float* __restrict__ rank,
             const float* __restrict__ inverse, float* __restrict__ next, const float* __restrict__ given) {
  constexpr int width = THREADS / LANES;
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int first = static_cast<int>(blockIdx.x) * width * VERTICES + static_cast<int>(threadIdx.x) / LANES;
  constexpr int turns = UNROLL;
#pragma unroll
  for (int k = 0; k < VERTICES; ++k) {
    const int vertex = first + k * width;
    float sum = 0;
    if (vertex < n) {
      const int32_t* const row = source + static_cast<size_t>(vertex) * degree;
#pragma unroll turns
      for (int e = lane * VECTOR; e < degree; e += LANES * VECTOR) {
        const Sources from = *reinterpret_cast<const Sources*>(row + e);
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) {
#if SHARES
          sum += given[from.v[v]];
#else
          sum += rank[from.v[v]] * inverse[from.v[v]];
#endif
        }
      }
    }
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (lane == 0 && vertex < n) next[vertex] = 0.15f + 0.85f * sum;
  }
}
