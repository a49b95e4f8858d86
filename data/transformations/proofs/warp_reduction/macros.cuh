// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value of another lane of the warp, of any type made of 4 byte words.
template <class T>
__device__ __forceinline__ T ks_shuffle_xor(T value, int mask) {
  static_assert(sizeof(T) % 4 == 0, "words of 4 bytes");
  T other;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
#ifdef __HIP__
    ((int*)&other)[i] = __shfl_xor(((const int*)&value)[i], mask);
#else
    ((int*)&other)[i] = __shfl_xor_sync(0xffffffffu, ((const int*)&value)[i], mask);
#endif
  return other;
}
// `join` over the values of all threads of a block of THREADS (a multiple of 32, at most 1024), in every thread; `nothing` joined with
// a value is that value. `parts` is 32 places of shared memory. Ends such that `parts` may be used again at once.
template <int THREADS, class T, class Join>
__device__ __forceinline__ T ks_block_reduce(T value, T nothing, T* parts, int thread, Join join) {
  static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps");
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value = join(value, ks_shuffle_xor(value, mask));
  if (THREADS == 32) return value;
  if (thread % 32 == 0) parts[thread / 32] = value;
  __syncthreads();
  value = thread % 32 < THREADS / 32 ? parts[thread % 32] : nothing;
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value = join(value, ks_shuffle_xor(value, mask));
  __syncthreads();
  return value;
}
