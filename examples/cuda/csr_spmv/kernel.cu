// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x, A sparse by rows.
//   METHOD 0  LANES threads take a row: no shared memory, but a long row keeps them alone busy
//   METHOD 1  a block multiplies THREADS * ITEMS entries into shared memory, then LANES threads add up those of a
//             row. What lies in several blocks is added to y, which is 0 before, by atomics.

constexpr unsigned all_lanes = 0xffffffffu;

template <class T>
__device__ __forceinline__ T entry(const T* p) {
#ifdef __CUDA_ARCH__
  if constexpr (STREAM) return __ldcs(p);
#endif
  return *p;
}

/// The sum over the LANES threads that share a row.
__device__ __forceinline__ float sum_of_lanes(float sum) {
#pragma unroll
  for (int mask = LANES / 2; mask > 0; mask /= 2) sum += __shfl_xor_sync(all_lanes, sum, mask);
  return sum;
}

#if METHOD == 0
extern "C" __global__ void __launch_bounds__(THREADS)
    csr_spmv(int32_t rows, const int32_t* __restrict__ row_start, const int32_t* __restrict__ column,
             const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y) {
  const int row = static_cast<int>((blockIdx.x * THREADS + threadIdx.x) / LANES);
  const int lane = static_cast<int>(threadIdx.x) % LANES;
  const int last = row < rows ? row_start[row + 1] : 0;
  float sum = 0;
  constexpr int turns = UNROLL;
#  pragma unroll turns
  for (int i = row < rows ? row_start[row] + lane : 0; i < last; i += LANES)
    sum += entry(value + i) * x[entry(column + i)];
  sum = sum_of_lanes(sum);
  if (lane == 0 && row < rows) y[row] = sum;
}
#else
constexpr int tile = THREADS * ITEMS;

extern "C" __global__ void __launch_bounds__(THREADS)
    csr_spmv(int32_t rows, const int32_t* __restrict__ row_start, const int32_t* __restrict__ column,
             const float* __restrict__ value, const float* __restrict__ x, float* y) {
  __shared__ float products[tile];
  __shared__ int bounds[2];
  const int t = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * tile, last = min(first + tile, row_start[rows]);
#  pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = first + k * THREADS + t;
    if (i < last) products[i - first] = entry(value + i) * x[entry(column + i)];
  }
  if (t < 2) {  // the rows of the first and of the last entry: the last that begin there or before
    const int at = t == 0 ? first : last - 1;
    int low = 0, high = rows - 1;
    while (low < high) {
      const int middle = low + (high - low + 1) / 2;
      if (row_start[middle] <= at)
        low = middle;
      else
        high = middle - 1;
    }
    bounds[t] = low;
  }
  __syncthreads();
  const int lane = t % LANES, last_row = bounds[1];
  for (int base = bounds[0]; base <= last_row; base += THREADS / LANES) {
    const int row = base + t / LANES;
    const int begin = row <= last_row ? row_start[row] : 0, end = row <= last_row ? row_start[row + 1] : 0;
    float sum = 0;
    for (int i = max(begin, first) + lane; i < min(end, last); i += LANES) sum += products[i - first];
    sum = sum_of_lanes(sum);
    if (lane != 0 || begin == end) continue;
    if (begin >= first && end <= last)
      y[row] = sum;
    else
      atomicAdd(y + row, sum);
  }
}
#endif
