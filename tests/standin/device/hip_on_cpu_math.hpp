// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Mathematical functions, bit operations and conversions. The C library's functions are declared as its own
// header does.

namespace kernelsearch_standin {

template <bool Condition, class T>
struct If {};
template <class T>
struct If<true, T> {
  using Type = T;
};
template <class T>
constexpr bool is_float = false;
template <>
inline constexpr bool is_float<float> = true;
template <class T>
constexpr bool is_real = is_float<T>;
template <>
inline constexpr bool is_real<double> = true;

}  // namespace kernelsearch_standin

#define KERNELSEARCH_STANDIN_MATH1(name)                                                           \
  extern "C" double name(double) noexcept;                                                         \
  extern "C" float name##f(float) noexcept;                                                        \
  template <class T>                                                                               \
  inline typename kernelsearch_standin::If<kernelsearch_standin::is_float<T>, T>::Type name(T x) { \
    return __builtin_##name##f(x);                                                                 \
  }
#define KERNELSEARCH_STANDIN_MATH2(name)                                                                \
  extern "C" double name(double, double) noexcept;                                                      \
  extern "C" float name##f(float, float) noexcept;                                                      \
  template <class T>                                                                                    \
  inline typename kernelsearch_standin::If<kernelsearch_standin::is_float<T>, T>::Type name(T x, T y) { \
    return __builtin_##name##f(x, y);                                                                   \
  }

KERNELSEARCH_STANDIN_MATH1(acos)
KERNELSEARCH_STANDIN_MATH1(asin)
KERNELSEARCH_STANDIN_MATH1(atan)
KERNELSEARCH_STANDIN_MATH1(cbrt)
KERNELSEARCH_STANDIN_MATH1(ceil)
KERNELSEARCH_STANDIN_MATH1(cos)
KERNELSEARCH_STANDIN_MATH1(cosh)
KERNELSEARCH_STANDIN_MATH1(erf)
KERNELSEARCH_STANDIN_MATH1(erfc)
KERNELSEARCH_STANDIN_MATH1(exp)
KERNELSEARCH_STANDIN_MATH1(exp2)
KERNELSEARCH_STANDIN_MATH1(expm1)
KERNELSEARCH_STANDIN_MATH1(fabs)
KERNELSEARCH_STANDIN_MATH1(floor)
KERNELSEARCH_STANDIN_MATH1(log)
KERNELSEARCH_STANDIN_MATH1(log10)
KERNELSEARCH_STANDIN_MATH1(log1p)
KERNELSEARCH_STANDIN_MATH1(log2)
KERNELSEARCH_STANDIN_MATH1(rint)
KERNELSEARCH_STANDIN_MATH1(round)
KERNELSEARCH_STANDIN_MATH1(sin)
KERNELSEARCH_STANDIN_MATH1(sinh)
KERNELSEARCH_STANDIN_MATH1(sqrt)
KERNELSEARCH_STANDIN_MATH1(tan)
KERNELSEARCH_STANDIN_MATH1(tanh)
KERNELSEARCH_STANDIN_MATH1(trunc)
KERNELSEARCH_STANDIN_MATH2(atan2)
KERNELSEARCH_STANDIN_MATH2(copysign)
KERNELSEARCH_STANDIN_MATH2(fmax)
KERNELSEARCH_STANDIN_MATH2(fmin)
KERNELSEARCH_STANDIN_MATH2(fmod)
KERNELSEARCH_STANDIN_MATH2(hypot)
KERNELSEARCH_STANDIN_MATH2(pow)
#undef KERNELSEARCH_STANDIN_MATH1
#undef KERNELSEARCH_STANDIN_MATH2

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" int abs(int) noexcept;
extern "C" int printf(const char*, ...);
template <class T>
inline typename kernelsearch_standin::If<kernelsearch_standin::is_float<T>, T>::Type fma(T x, T y, T z) {
  return __builtin_fmaf(x, y, z);
}
template <class T>
inline typename kernelsearch_standin::If<kernelsearch_standin::is_real<T>, T>::Type abs(T x) {
  return x < 0 ? -x : x == 0 ? T(0) : x;
}
template <class T>
inline typename kernelsearch_standin::If<kernelsearch_standin::is_real<T>, bool>::Type isnan(T x) {
  return __builtin_isnan(x);
}
template <class T>
inline typename kernelsearch_standin::If<kernelsearch_standin::is_real<T>, bool>::Type isinf(T x) {
  return __builtin_isinf(x) != 0;
}
template <class T>
inline typename kernelsearch_standin::If<kernelsearch_standin::is_real<T>, bool>::Type isfinite(T x) {
  return __builtin_isfinite(x);
}
template <class A, class B>
constexpr auto min(A a, B b) -> decltype(true ? A() : B()) {
  return b < a ? b : a;
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(true ? A() : B()) {
  return a < b ? b : a;
}

inline float rsqrtf(float x) {
  return 1.0f / __builtin_sqrtf(x);
}
inline double rsqrt(double x) {
  return 1.0 / __builtin_sqrt(x);
}
inline float __saturatef(float x) {
  return x < 0 ? 0.0f : x > 1 ? 1.0f : x;
}
inline float __expf(float x) {
  return __builtin_expf(x);
}
inline float __exp10f(float x) {
  return __builtin_powf(10.0f, x);
}
inline float __logf(float x) {
  return __builtin_logf(x);
}
inline float __log2f(float x) {
  return __builtin_log2f(x);
}
inline float __sinf(float x) {
  return __builtin_sinf(x);
}
inline float __cosf(float x) {
  return __builtin_cosf(x);
}
inline float __powf(float x, float y) {
  return __builtin_powf(x, y);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __fsqrt_rn(float x) {
  return __builtin_sqrtf(x);
}
inline float __frsqrt_rn(float x) {
  return rsqrtf(x);
}
inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fmaf_rn(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}

inline int __float_as_int(float x) {
  return static_cast<int>(__builtin_bit_cast(unsigned, x));
}
inline unsigned __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned, x);
}
inline float __int_as_float(int x) {
  return __builtin_bit_cast(float, x);
}
inline float __uint_as_float(unsigned x) {
  return __builtin_bit_cast(float, x);
}
inline long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
inline double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}
inline int __float2int_rn(float x) {
  return static_cast<int>(__builtin_rintf(x));
}
inline int __float2int_rd(float x) {
  return static_cast<int>(__builtin_floorf(x));
}
inline int __float2int_rz(float x) {
  return static_cast<int>(x);
}
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(unsigned x) {
  return __builtin_ffs(static_cast<int>(x));
}
inline int __ffsll(unsigned long long x) {
  return __builtin_ffsll(static_cast<long long>(x));
}
inline int __mul24(int x, int y) {
  return ((x << 8) >> 8) * ((y << 8) >> 8);
}
inline int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result = result << 1 | (x >> i & 1u);
  return result;
}

#ifndef INFINITY
#  define INFINITY __builtin_inff()
#endif
#ifndef NAN
#  define NAN __builtin_nanf("")
#endif
