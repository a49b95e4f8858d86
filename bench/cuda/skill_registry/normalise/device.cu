// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of 1024 divided by their length, 256 threads a block and a block a row; the sums of squares go through
// `lengths`, or stay in the block where both launches are one.
namespace {

__device__ __forceinline__ float sum_of_block(float value) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
#if SHUFFLE
#  pragma unroll
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
  if (t % 32 == 0) partial[t / 32] = value;
  __syncthreads();
  value = partial[t % 8];
#  pragma unroll
  for (int half = 4; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffu, value, half);
  return value;
#else
  partial[t] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  return partial[0];
#endif
}

__device__ __forceinline__ float4 part(const float* row) {
#if VECTOR
  return *reinterpret_cast<const float4*>(row + 4 * threadIdx.x);
#else
  return make_float4(row[threadIdx.x], row[256 + threadIdx.x], row[512 + threadIdx.x], row[768 + threadIdx.x]);
#endif
}

__device__ __forceinline__ void put(float* row, float4 v, float factor) {
#if VECTOR
  *reinterpret_cast<float4*>(row + 4 * threadIdx.x) =
      make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
#else
  row[threadIdx.x] = v.x * factor;
  row[256 + threadIdx.x] = v.y * factor;
  row[512 + threadIdx.x] = v.z * factor;
  row[768 + threadIdx.x] = v.w * factor;
#endif
}

__device__ __forceinline__ float squares(float4 v) { return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }

}  // namespace

__global__ void __launch_bounds__(256, MIN_BLOCKS) lengths_of(const float* x, float* lengths) {
  const float sum = sum_of_block(squares(part(x + static_cast<size_t>(blockIdx.x) * 1024)));
#if PDL
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
  if (threadIdx.x == 0) lengths[blockIdx.x] = rsqrtf(sum);
}

__global__ void __launch_bounds__(256, MIN_BLOCKS) scaled(const float* x, const float* lengths, float* y) {
  const size_t at = static_cast<size_t>(blockIdx.x) * 1024;
  const float4 v = part(x + at);
#if PDL
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  put(y + at, v, lengths[blockIdx.x]);
}

__global__ void __launch_bounds__(256, MIN_BLOCKS) normalised(const float* x, float* y) {
  const size_t at = static_cast<size_t>(blockIdx.x) * 1024;
  const float4 v = part(x + at);
  put(y + at, v, rsqrtf(sum_of_block(squares(v))));
}
