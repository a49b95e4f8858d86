// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The integer types that hipRTC declares (as long long, whatever the host calls them), vector types, dim3 and
// the 16-bit floating types with their conversions.

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
typedef decltype(sizeof 0) size_t;

#define KERNELSEARCH_STANDIN_VECTORS(name, type)                      \
  struct alignas(2 * sizeof(type)) name##2 {                          \
    type x, y;                                                        \
  };                                                                  \
  struct alignas(sizeof(type) == 8 ? 16 : 4 * sizeof(type)) name##4 { \
    type x, y, z, w;                                                  \
  };                                                                  \
  inline name##2 make_##name##2(type x, type y) {                     \
    return {x, y};                                                    \
  }                                                                   \
  inline name##4 make_##name##4(type x, type y, type z, type w) {     \
    return {x, y, z, w};                                              \
  }
#define KERNELSEARCH_STANDIN_VECTORS3(name, type)         \
  struct name##3 {                                        \
    type x, y, z;                                         \
  };                                                      \
  inline name##3 make_##name##3(type x, type y, type z) { \
    return {x, y, z};                                     \
  }

KERNELSEARCH_STANDIN_VECTORS(char, signed char)
KERNELSEARCH_STANDIN_VECTORS(uchar, unsigned char)
KERNELSEARCH_STANDIN_VECTORS(short, short)
KERNELSEARCH_STANDIN_VECTORS(ushort, unsigned short)
KERNELSEARCH_STANDIN_VECTORS(int, int)
KERNELSEARCH_STANDIN_VECTORS(uint, unsigned)
KERNELSEARCH_STANDIN_VECTORS(longlong, long long)
KERNELSEARCH_STANDIN_VECTORS(ulonglong, unsigned long long)
KERNELSEARCH_STANDIN_VECTORS(float, float)
KERNELSEARCH_STANDIN_VECTORS(double, double)
KERNELSEARCH_STANDIN_VECTORS3(int, int)
KERNELSEARCH_STANDIN_VECTORS3(float, float)
KERNELSEARCH_STANDIN_VECTORS3(double, double)
#undef KERNELSEARCH_STANDIN_VECTORS
#undef KERNELSEARCH_STANDIN_VECTORS3

typedef kernelsearch_standin::Index uint3;
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) {
  return {x, y, z};
}

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

namespace kernelsearch_standin {

inline unsigned bits_of(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(unsigned bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// To binary16, to nearest, ties to even.
inline unsigned short to_half(float value) {
  const unsigned bits = bits_of(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
  if (magnitude >= 0x47800000u) return static_cast<unsigned short>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // the addition rounds at the last bit of a subnormal half
    const unsigned rounded = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    return static_cast<unsigned short>(sign | rounded);
  }
  const unsigned rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<unsigned short>(sign | rounded >> 13);
}
inline float from_half(unsigned short half) {
  const unsigned sign = (half & 0x8000u) << 16, magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return float_of(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  const float scaled = float_of(magnitude << 13) * 0x1p112f;
  return float_of(sign | bits_of(scaled));
}
inline unsigned short to_bfloat(float value) {
  const unsigned bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>(bits >> 16 | 0x40u);
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline float from_bfloat(unsigned short bits) {
  return float_of(static_cast<unsigned>(bits) << 16);
}

}  // namespace kernelsearch_standin

#define KERNELSEARCH_STANDIN_FLOAT16(name, to, from)                                   \
  struct name {                                                                        \
    unsigned short bits;                                                               \
    name() = default;                                                                  \
    name(float value) : bits(kernelsearch_standin::to(value)) {}                       \
    name(double value) : name(static_cast<float>(value)) {}                            \
    name(int value) : name(static_cast<float>(value)) {}                               \
    operator float() const { return kernelsearch_standin::from(bits); }                \
    name& operator+=(name other) { return *this = name(float(*this) + float(other)); } \
    name& operator-=(name other) { return *this = name(float(*this) - float(other)); } \
    name& operator*=(name other) { return *this = name(float(*this) * float(other)); } \
    name& operator/=(name other) { return *this = name(float(*this) / float(other)); } \
  };                                                                                   \
  inline name operator+(name a, name b) {                                              \
    return a += b;                                                                     \
  }                                                                                    \
  inline name operator-(name a, name b) {                                              \
    return a -= b;                                                                     \
  }                                                                                    \
  inline name operator*(name a, name b) {                                              \
    return a *= b;                                                                     \
  }                                                                                    \
  inline name operator/(name a, name b) {                                              \
    return a /= b;                                                                     \
  }                                                                                    \
  inline name operator-(name a) {                                                      \
    return name(-float(a));                                                            \
  }                                                                                    \
  inline bool operator<(name a, name b) {                                              \
    return float(a) < float(b);                                                        \
  }                                                                                    \
  inline bool operator>(name a, name b) {                                              \
    return float(a) > float(b);                                                        \
  }                                                                                    \
  inline bool operator==(name a, name b) {                                             \
    return float(a) == float(b);                                                       \
  }

KERNELSEARCH_STANDIN_FLOAT16(__half, to_half, from_half)
KERNELSEARCH_STANDIN_FLOAT16(__hip_bfloat16, to_bfloat, from_bfloat)
#undef KERNELSEARCH_STANDIN_FLOAT16

typedef __half half;
typedef __hip_bfloat16 hip_bfloat16;

struct alignas(4) __half2 {
  __half x, y;
};
typedef __half2 half2;
struct alignas(4) __hip_bfloat162 {
  __hip_bfloat16 x, y;
};

inline __half __float2half(float value) {
  return __half(value);
}
inline __half __float2half_rn(float value) {
  return __half(value);
}
inline float __half2float(__half value) {
  return float(value);
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__half(x), __half(y)};
}
inline __half2 make_half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
inline __half __low2half(__half2 v) {
  return v.x;
}
inline __half __high2half(__half2 v) {
  return v.y;
}
inline float2 __half22float2(__half2 v) {
  return {float(v.x), float(v.y)};
}
inline __half __hadd(__half a, __half b) {
  return a + b;
}
inline __half __hmul(__half a, __half b) {
  return a * b;
}
inline __half __hfma(__half a, __half b, __half c) {
  return __half(float(a) * float(b) + float(c));
}
inline __half2 __hadd2(__half2 a, __half2 b) {
  return {a.x + b.x, a.y + b.y};
}
inline __half2 __hmul2(__half2 a, __half2 b) {
  return {a.x * b.x, a.y * b.y};
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline __hip_bfloat16 __float2bfloat16(float value) {
  return __hip_bfloat16(value);
}
inline float __bfloat162float(__hip_bfloat16 value) {
  return float(value);
}
