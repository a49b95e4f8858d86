// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// y = A x, every row of A with `length` entries, stored by columns of entries (ELLPACK). LANES groups of
// threads share the entries of a row, a thread has ROWS rows.

template <class T>
__device__ __forceinline__ T once(const T* p) {
#ifdef __CUDA_ARCH__
  if constexpr (STREAM) return __ldcs(p);
#endif
  return *p;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    spmv_ell(int32_t rows, int32_t length, const int32_t* __restrict__ column,
             const float* __restrict__ value, const float* __restrict__ x, float* __restrict__ y) {
  constexpr int width = THREADS / LANES;  // threads side by side
  const int t = static_cast<int>(threadIdx.x) % width, lane = static_cast<int>(threadIdx.x) / width;
  const int first = static_cast<int>(blockIdx.x) * width * ROWS + t;
  float sum[ROWS] = {};
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int k = lane; k < length; k += LANES) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const int row = first + r * width;
      if (row >= rows) continue;
      const size_t at = static_cast<size_t>(k) * rows + row;
#if defined(__CUDA_ARCH__) && READ_ONLY
      sum[r] += once(value + at) * __ldg(x + once(column + at));
#else
      sum[r] += once(value + at) * x[once(column + at)];
#endif
    }
  }
#if LANES > 1
  __shared__ float parts[LANES][ROWS][width];
#  pragma unroll
  for (int r = 0; r < ROWS; ++r) parts[lane][r][t] = sum[r];
  __syncthreads();
  if (lane != 0) return;
#  pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    sum[r] = 0;
#  pragma unroll
    for (int other = 0; other < LANES; ++other) sum[r] += parts[other][r][t];
  }
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    if (first + r * width < rows) y[first + r * width] = sum[r];
}
