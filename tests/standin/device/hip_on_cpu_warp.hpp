// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Barriers, operations of a warp, atomics, fences and loads.

inline void __syncthreads() {
  (void)kernelsearch_standin_state->barrier(0);
}
inline int __syncthreads_count(int predicate) {
  return kernelsearch_standin_state->barrier(predicate).nonzero;
}
inline int __syncthreads_or(int predicate) {
  return kernelsearch_standin_state->barrier(predicate).nonzero != 0;
}
inline int __syncthreads_and(int predicate) {
  const kernelsearch_standin::BarrierView view = kernelsearch_standin_state->barrier(predicate);
  return view.nonzero == view.arrived;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline unsigned __lane_id() {
  return kernelsearch_standin_state->lane;
}
inline long long clock64() {
#ifdef __x86_64__
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  static long long calls = 0;
  return ++calls;
#endif
}
inline long long wall_clock64() {
  return clock64();
}
[[noreturn]] inline void __trap() {
  __builtin_trap();
}

#ifndef NDEBUG
#  define assert(condition) ((condition) ? (void)0 : kernelsearch_standin_state->fail(710))
#else
#  define assert(condition) ((void)0)
#endif

namespace kernelsearch_standin {

constexpr unsigned long long full_mask = ~0ull;

template <class T>
unsigned long long packed(T value) {
  static_assert(sizeof(T) <= 8, "warp operations exchange at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T unpacked(unsigned long long bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
/// The value of lane `from`; lanes outside of this lane's group of `width` leave its own value.
template <class T>
T shuffled(unsigned long long mask, int site, T value, int from, int width, bool inside) {
  const WarpView* view = kernelsearch_standin_state->exchange(mask, site, packed(value));
  (void)width;
  return inside ? unpacked<T>(view->values[from & (KERNELSEARCH_STANDIN_WARP - 1)]) : value;
}
inline int lane() {
  return static_cast<int>(kernelsearch_standin_state->lane);
}

}  // namespace kernelsearch_standin

// AMD's forms without a mask take part with the lanes that come; those with one wait for the lanes that it
// names.
#define KERNELSEARCH_STANDIN_SHUFFLE(name, parameter, from_lane, is_inside)                                \
  template <class T>                                                                                       \
  inline T name(T value, parameter, int width = KERNELSEARCH_STANDIN_WARP, int site = __builtin_LINE()) {  \
    const int lane = kernelsearch_standin::lane(), first = lane & ~(width - 1), from = from_lane;          \
    return kernelsearch_standin::shuffled(kernelsearch_standin::full_mask, site, value, from, width,       \
                                          is_inside);                                                      \
  }                                                                                                        \
  template <class T>                                                                                       \
  inline T name##_sync(unsigned long long mask, T value, parameter, int width = KERNELSEARCH_STANDIN_WARP, \
                       int site = __builtin_LINE()) {                                                      \
    const int lane = kernelsearch_standin::lane(), first = lane & ~(width - 1), from = from_lane;          \
    return kernelsearch_standin::shuffled(mask, site, value, from, width, is_inside);                      \
  }

KERNELSEARCH_STANDIN_SHUFFLE(__shfl, int source, first + (source & (width - 1)), from >= first)
KERNELSEARCH_STANDIN_SHUFFLE(__shfl_down, unsigned delta, lane + static_cast<int>(delta),
                             from < first + width)
KERNELSEARCH_STANDIN_SHUFFLE(__shfl_up, unsigned delta, lane - static_cast<int>(delta), from >= first)
KERNELSEARCH_STANDIN_SHUFFLE(__shfl_xor, int bits, lane ^ bits, from < first + width)
#undef KERNELSEARCH_STANDIN_SHUFFLE

inline unsigned long long __ballot_sync(unsigned long long mask, int predicate, int site = __builtin_LINE()) {
  const kernelsearch_standin::WarpView* view =
      kernelsearch_standin_state->exchange(mask, site, static_cast<unsigned long long>(predicate != 0));
  unsigned long long result = 0;
  for (int i = 0; i < KERNELSEARCH_STANDIN_WARP; ++i) result |= view->values[i] << i;
  return result;
}
inline unsigned long long __ballot(int predicate, int site = __builtin_LINE()) {
  return __ballot_sync(kernelsearch_standin::full_mask, predicate, site);
}
inline unsigned long long __activemask(int site = __builtin_LINE()) {
  return kernelsearch_standin_state->exchange(kernelsearch_standin::full_mask, site, 0)->active;
}
inline int __any_sync(unsigned long long mask, int predicate, int site = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, site) != 0;
}
inline int __all_sync(unsigned long long mask, int predicate, int site = __builtin_LINE()) {
  return __ballot_sync(mask, predicate == 0, site) == 0;
}
inline int __any(int predicate, int site = __builtin_LINE()) {
  return __ballot(predicate, site) != 0;
}
inline int __all(int predicate, int site = __builtin_LINE()) {
  return __ballot(predicate == 0, site) == 0;
}
inline void __syncwarp(unsigned long long mask = kernelsearch_standin::full_mask,
                       int site = __builtin_LINE()) {
  (void)kernelsearch_standin_state->exchange(mask, site, 0);
}

#define KERNELSEARCH_STANDIN_ATOMIC(name, result)                            \
  template <class T>                                                         \
  inline T name(T* at, typename kernelsearch_standin::Same<T>::Type value) { \
    const T old = *at;                                                       \
    *at = static_cast<T>(result);                                            \
    return old;                                                              \
  }
KERNELSEARCH_STANDIN_ATOMIC(atomicAdd, old + value)
KERNELSEARCH_STANDIN_ATOMIC(unsafeAtomicAdd, old + value)
KERNELSEARCH_STANDIN_ATOMIC(atomicSub, old - value)
KERNELSEARCH_STANDIN_ATOMIC(atomicExch, value)
KERNELSEARCH_STANDIN_ATOMIC(atomicMin, value < old ? value : old)
KERNELSEARCH_STANDIN_ATOMIC(atomicMax, old < value ? value : old)
KERNELSEARCH_STANDIN_ATOMIC(atomicAnd, old& value)
KERNELSEARCH_STANDIN_ATOMIC(atomicOr, old | value)
KERNELSEARCH_STANDIN_ATOMIC(atomicXor, old ^ value)
KERNELSEARCH_STANDIN_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
KERNELSEARCH_STANDIN_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef KERNELSEARCH_STANDIN_ATOMIC
template <class T>
inline T atomicCAS(T* at, typename kernelsearch_standin::Same<T>::Type expected,
                   typename kernelsearch_standin::Same<T>::Type value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}

template <class T>
inline T __ldg(const T* at) {
  return *at;
}
