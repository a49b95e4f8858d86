// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts segments of 1024 keys by a network in shared memory: Batcher's bitonic one or his odd-even merge. A
// block takes SEGMENTS of them.

constexpr int size = 1024, padded = PAD ? size + size / 32 : size;

struct alignas(4 * VECTOR) Pack {
  uint32_t v[VECTOR];
};

__device__ __forceinline__ int place(int i) {
  return PAD ? i + i / 32 : i;
}

__device__ __forceinline__ void order(uint32_t* keys, int low, int high, bool ascending) {
  const uint32_t a = keys[place(low)], b = keys[place(high)];
#if BRANCH
  if ((a > b) == ascending) keys[place(low)] = b, keys[place(high)] = a;
#else
  const uint32_t less = min(a, b), more = max(a, b);
  keys[place(low)] = ascending ? less : more;
  keys[place(high)] = ascending ? more : less;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sort_segments(int32_t count, const uint32_t* __restrict__ keys, uint32_t* __restrict__ sorted) {
  __shared__ uint32_t kept[SEGMENTS][padded];
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * SEGMENTS;
  const int here = min(SEGMENTS, count - first);
  const uint32_t* const from = keys + static_cast<size_t>(first) * size;
  uint32_t* const to = sorted + static_cast<size_t>(first) * size;
  for (int i = t * VECTOR; i < SEGMENTS * size; i += THREADS * VECTOR) {
    Pack pack{};
    if (i / size < here) pack = *reinterpret_cast<const Pack*>(from + i);
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) kept[i / size][place(i % size + v)] = pack.v[v];
  }
  __syncthreads();
  constexpr int turns = UNROLL;
#if METHOD == 0
  for (int width = 2; width <= size; width *= 2)
    for (int step = width / 2; step > 0; step /= 2) {
#  pragma unroll turns
      for (int pair = t; pair < SEGMENTS * size / 2; pair += THREADS) {
        const int p = pair % (size / 2), low = p / step * 2 * step + p % step;
        order(kept[pair / (size / 2)], low, low + step, (low & width) == 0);
      }
      __syncthreads();
    }
#else
  for (int width = 1; width < size; width *= 2)
    for (int step = width; step > 0; step /= 2) {
#  pragma unroll turns
      for (int pair = t; pair < SEGMENTS * size / 2; pair += THREADS) {
        const int p = pair % (size / 2), low = step % width + p / step * 2 * step + p % step;
        if (low + step < size && low / (2 * width) == (low + step) / (2 * width))
          order(kept[pair / (size / 2)], low, low + step, true);
      }
      __syncthreads();
    }
#endif
  for (int i = t * VECTOR; i < here * size; i += THREADS * VECTOR) {
    Pack pack;
#pragma unroll
    for (int v = 0; v < VECTOR; ++v) pack.v[v] = kept[i / size][place(i % size + v)];
    *reinterpret_cast<Pack*>(to + i) = pack;
  }
}
