// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// For kernels, not for programs: one spelling of what CUDA and HIP call differently, so that one source runs
/// on both and on the stand-in that tests use. Includes nothing, as run-time compilers have no standard
/// headers; a compiler of C++ alone sees nothing of it.
///
///     #include "kernelsearch/device/portable.hpp"
///     namespace ks = kernelsearch::device;
///     extern "C" __global__ void __launch_bounds__(BLOCK) KERNELSEARCH_WAVES_PER_EU(WAVES) sums(...)
///
/// What both spell alike is not here: __global__, __shared__, __syncthreads, threadIdx, float4, atomicAdd,
/// fmaf, __launch_bounds__, __ldg.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#  define KERNELSEARCH_DEVICE_CUDA 1
#elif defined(__HIP__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
#  define KERNELSEARCH_DEVICE_HIP 1
#endif

#if defined(KERNELSEARCH_DEVICE_CUDA) || defined(KERNELSEARCH_DEVICE_HIP)

/// A function of the device that is always inlined.
#  define KERNELSEARCH_DEVICE __device__ __forceinline__

/// In front of a kernel's name: how many waves each SIMD of an AMD compute unit is to hold at least, which
/// bounds the registers; 0 leaves it to the compiler. Nothing on others.
#  if defined(KERNELSEARCH_DEVICE_HIP) && defined(__clang__)
#    define KERNELSEARCH_WAVES_PER_EU(waves) __attribute__((amdgpu_waves_per_eu(waves)))
#  else
#    define KERNELSEARCH_WAVES_PER_EU(waves)
#  endif

/// Inside a kernel: the shared memory that the launch gives in bytes, as an array.
#  if defined(KERNELSEARCH_STANDIN)
#    define KERNELSEARCH_DYNAMIC_SHARED(type, name) HIP_DYNAMIC_SHARED(type, name)
#  else
#    define KERNELSEARCH_DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#  endif

/// In front of a loop: unrolls it that many times; a macro or a constant may be named.
#  define KERNELSEARCH_PRAGMA(text) _Pragma(#  text)
#  if defined(__GNUC__) && !defined(__clang__) && !defined(KERNELSEARCH_DEVICE_CUDA)
#    define KERNELSEARCH_UNROLL(times) KERNELSEARCH_PRAGMA(GCC unroll times)
#  else
#    define KERNELSEARCH_UNROLL(times) KERNELSEARCH_PRAGMA(unroll times)
#  endif

namespace kernelsearch {
namespace device {

/// Threads that run in step: 32 on NVIDIA and on AMD's RDNA, 64 on AMD's GCN and CDNA.
#  if defined(KERNELSEARCH_STANDIN_WARP)
constexpr int warp_size = KERNELSEARCH_STANDIN_WARP;
#  elif defined(KERNELSEARCH_DEVICE_CUDA)
constexpr int warp_size = 32;
#  elif defined(__AMDGCN_WAVEFRONT_SIZE)
constexpr int warp_size = __AMDGCN_WAVEFRONT_SIZE;
#  elif defined(__GFX9__) || defined(__GFX8__)
constexpr int warp_size = 64;
#  else
constexpr int warp_size = 32;
#  endif

/// The thread's place in its block, x running fastest.
KERNELSEARCH_DEVICE int thread_rank() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}
/// The thread's place in its warp.
KERNELSEARCH_DEVICE int lane() {
  return thread_rank() % warp_size;
}

// Exchanges within groups of `width` lanes (a power of two up to warp_size). All lanes of the warp take part.
#  if defined(KERNELSEARCH_DEVICE_CUDA)
#    define KERNELSEARCH_SHUFFLE(name, ...) name##_sync(0xffffffffu, __VA_ARGS__)
#  else
#    define KERNELSEARCH_SHUFFLE(name, ...) name(__VA_ARGS__)
#  endif

/// The value of lane `source` of the group.
template <class T>
KERNELSEARCH_DEVICE T shuffle(T value, int source, int width = warp_size) {
  return KERNELSEARCH_SHUFFLE(__shfl, value, source, width);
}
/// The value of the lane `delta` above; the thread's own beyond the group.
template <class T>
KERNELSEARCH_DEVICE T shuffle_down(T value, unsigned delta, int width = warp_size) {
  return KERNELSEARCH_SHUFFLE(__shfl_down, value, delta, width);
}
/// The value of the lane `delta` below; the thread's own beyond the group.
template <class T>
KERNELSEARCH_DEVICE T shuffle_up(T value, unsigned delta, int width = warp_size) {
  return KERNELSEARCH_SHUFFLE(__shfl_up, value, delta, width);
}
/// The value of the lane whose number differs in these bits.
template <class T>
KERNELSEARCH_DEVICE T shuffle_xor(T value, int bits, int width = warp_size) {
  return KERNELSEARCH_SHUFFLE(__shfl_xor, value, bits, width);
}
/// One bit for each lane of the warp where the predicate holds.
KERNELSEARCH_DEVICE unsigned long long ballot(bool predicate) {
#  if defined(KERNELSEARCH_DEVICE_CUDA)
  return __ballot_sync(0xffffffffu, predicate);
#  else
  return __ballot(predicate);
#  endif
}
/// Orders the shared memory of a warp: what its lanes wrote before, all of them see after.
KERNELSEARCH_DEVICE void sync_warp() {
#  if defined(KERNELSEARCH_DEVICE_CUDA) || defined(KERNELSEARCH_STANDIN)
  __syncwarp();
#  else
  // Lanes of a wave run in step; the compiler must be kept from reordering.
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#  endif
}

struct Sum {
  template <class T>
  KERNELSEARCH_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Largest {
  template <class T>
  KERNELSEARCH_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// All lanes of each group of `width` get the group's values combined, e.g. `reduce_warp(x, Sum())`.
template <class T, class Combine>
KERNELSEARCH_DEVICE T reduce_warp(T value, Combine combine, int width = warp_size) {
  for (int bits = width / 2; bits > 0; bits /= 2) value = combine(value, shuffle_xor(value, bits, width));
  return value;
}

/// All threads of a block of `Threads` (a power of two, at most 1024) get the block's values combined.
/// `scratch` is shared memory for `Threads / warp_size` values, or one; the block may not use it until its
/// next barrier.
template <int Threads, class T, class Combine>
KERNELSEARCH_DEVICE T reduce_block(T value, Combine combine, T* scratch) {
  if constexpr (Threads <= warp_size) {
    return reduce_warp(value, combine, Threads);
  } else {
    constexpr int warps = Threads / warp_size;
    value = reduce_warp(value, combine);
    const int rank = thread_rank();
    if (rank % warp_size == 0) scratch[rank / warp_size] = value;
    __syncthreads();
    return reduce_warp(scratch[rank % warps], combine, warps);
  }
}

/// N values that are loaded and stored in one access where they are aligned to their size.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T value[N];
  KERNELSEARCH_DEVICE T& operator[](int i) { return value[i]; }
  KERNELSEARCH_DEVICE const T& operator[](int i) const { return value[i]; }
};
/// `from` must be aligned to N values.
template <int N, class T>
KERNELSEARCH_DEVICE Pack<T, N> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}
/// `to` must be aligned to N values.
template <int N, class T>
KERNELSEARCH_DEVICE void store_pack(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

// The hardware's own approximations.
KERNELSEARCH_DEVICE float fast_exp(float x) {
  return __expf(x);
}
KERNELSEARCH_DEVICE float fast_log(float x) {
  return __logf(x);
}
KERNELSEARCH_DEVICE float fast_divide(float x, float y) {
  return __fdividef(x, y);
}
KERNELSEARCH_DEVICE float fast_rsqrt(float x) {
  return rsqrtf(x);
}

}  // namespace device
}  // namespace kernelsearch

#endif
