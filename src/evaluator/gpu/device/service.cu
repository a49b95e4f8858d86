// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of the GPU evaluator, for NVRTC and hipRTC alike: nothing is included. The library has this text
// compiled in (cmake/embed_text.cmake) and compiles it when it runs.
//
// Types are numbered as in ElementType: f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool f8e4m3 f8e5m2 f4e2m1 i4 u4,
// of which f8e4m3 and those after it are only read; ways of filling as in
// Initialisation, flavours as in InputFlavour.

typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

__device__ u64 ks_bits(double v) { union { double v; u64 b; } u; u.v = v; return u.b; }
__device__ double ks_from_bits(u64 b) { union { double v; u64 b; } u; u.b = b; return u.v; }
__device__ u32 ks_bits32(float v) { union { float v; u32 b; } u; u.v = v; return u.b; }
__device__ float ks_from_bits32(u32 b) { union { float v; u32 b; } u; u.b = b; return u.v; }
__device__ bool ks_nan(double v) { return (ks_bits(v) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }
__device__ bool ks_infinite(double v) { return (ks_bits(v) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
__device__ double ks_abs(double v) { return ks_from_bits(ks_bits(v) & 0x7fffffffffffffffull); }

__device__ double ks_half(u16 h) {
  const u32 sign = (u32)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31u) return (double)ks_from_bits32(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0u) return (sign ? -1.0 : 1.0) * (double)mantissa * 5.9604644775390625e-8;
  return (double)ks_from_bits32(sign | (exponent + 112u) << 23 | mantissa << 13);
}
__device__ u16 ks_to_half(double value) {
  const u16 sign = value < 0 ? 0x8000u : 0u;
  const double v = ks_abs(value);
  if (ks_nan(v)) return 0x7e00u;
  if (v >= 65520.0) return (u16)(sign | 0x7c00u);
  if (v < 6.103515625e-5) {  // subnormal: units of 2^-24, ties to even by adding and subtracting 2^52
    const double units = (v * 16777216.0 + 4503599627370496.0) - 4503599627370496.0;
    return (u16)(sign | (u16)units);
  }
  const u64 b = ks_bits(v);
  u64 kept = b >> 42;
  const u64 rest = b & ((1ull << 42) - 1ull), middle = 1ull << 41;
  if (rest > middle || (rest == middle && (kept & 1ull))) ++kept;
  return (u16)(sign | (u16)(kept - ((u64)(1023 - 15) << 10)));
}
__device__ u16 ks_to_bfloat(double value) {
  const u32 b = ks_bits32((float)value);
  if (ks_nan(value)) return (u16)(b >> 16 | 0x40u);
  return (u16)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
// A float of 1 + exponent_bits + mantissa_bits bits, which are the lowest of `p`; infinities and NaN are the caller's.
__device__ double ks_small(u32 p, int exponent_bits, int mantissa_bits) {
  const u32 sign = p >> (exponent_bits + mantissa_bits) & 1u, exponent = p >> mantissa_bits & ((1u << exponent_bits) - 1u);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double mantissa = (double)(p & ((1u << mantissa_bits) - 1u)) + (exponent ? (double)(1u << mantissa_bits) : 0.0);
  const int power = (exponent ? (int)exponent : 1) - bias - mantissa_bits;
  return (sign ? -1.0 : 1.0) * mantissa * ks_from_bits((u64)(1023 + power) << 52);
}
__device__ u32 ks_four_bits(const void* at, u64 i) { return (u32)((const u8*)at)[i / 2ull] >> (i % 2ull ? 4 : 0) & 15u; }
__device__ double ks_load(int type, const void* at, u64 i) {
  switch (type) {
    case 13: {
      const u32 p = ((const u8*)at)[i];
      return (p & 0x7fu) == 0x7fu ? ks_from_bits(0x7ff8000000000000ull) : ks_small(p, 4, 3);
    }
    case 14: return ks_half((u16)((u32)((const u8*)at)[i] << 8));  // the upper half of an f16
    case 15: return ks_small(ks_four_bits(at, i), 2, 1);
    case 16: return (double)((int)(ks_four_bits(at, i) ^ 8u) - 8);
    case 17: return (double)ks_four_bits(at, i);
    case 0: return ks_half(((const u16*)at)[i]);
    case 1: return (double)ks_from_bits32((u32)((const u16*)at)[i] << 16);
    case 2: return (double)((const float*)at)[i];
    case 3: return ((const double*)at)[i];
    case 4: return (double)((const signed char*)at)[i];
    case 5: return (double)((const short*)at)[i];
    case 6: return (double)((const int*)at)[i];
    case 7: return (double)((const s64*)at)[i];
    case 9: return (double)((const u16*)at)[i];
    case 10: return (double)((const u32*)at)[i];
    case 11: return (double)((const u64*)at)[i];
    default: return (double)((const u8*)at)[i];
  }
}
__device__ u64 ks_size(int type) {
  return type == 3 || type == 7 || type == 11 ? 8 : type == 2 || type == 6 || type == 10 ? 4
         : type == 4 || type == 8 || type >= 12 ? 1 : 2;
}
__device__ void ks_store(int type, void* at, u64 i, double v) {
  switch (type) {
    case 0: ((u16*)at)[i] = ks_to_half(v); break;
    case 1: ((u16*)at)[i] = ks_to_bfloat(v); break;
    case 2: ((float*)at)[i] = (float)v; break;
    case 3: ((double*)at)[i] = v; break;
    case 4: ((signed char*)at)[i] = (signed char)v; break;
    case 5: ((short*)at)[i] = (short)v; break;
    case 6: ((int*)at)[i] = (int)v; break;
    case 7: ((s64*)at)[i] = (s64)v; break;
    case 9: ((u16*)at)[i] = (u16)v; break;
    case 10: ((u32*)at)[i] = (u32)v; break;
    case 11: ((u64*)at)[i] = (u64)v; break;
    default: ((u8*)at)[i] = (u8)v; break;
  }
}
__device__ u64 ks_mix(u64 x) {  // the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
__device__ u64 ks_random(u64 seed, u64 i) { return ks_mix(seed + (i + 1ull) * 0x9e3779b97f4a7c15ull); }
__device__ double ks_uniform(u64 r) { return (double)(r >> 11) * 1.1102230246251565e-16; }

// A drawn value in [low, top]; `decades` of magnitudes for ill-conditioned ones.
__device__ double ks_drawn(int floating, u64 r, double low, double high, double top) {
  double v = low + (high - low) * ks_uniform(r);
  if (!floating) v = floor(v);
  return v > top ? top : v;
}
__device__ double ks_decades(u64 seed, u64 i, double decades, double low, double high, double top) {
  const u64 pair = i & ~1ull;
  const u64 r = ks_random(seed, pair), s = ks_random(seed ^ 0x5851f42d4c957f2dull, pair);
  const bool both = low < 0 && high > 0;
  const double ends = (r & 1ull) && both ? low : (high > 0 ? top : low);
  double v = ends * exp(-2.302585092994046 * decades * ks_uniform(s));
  if ((i & 1ull) && both) {
    const double other = -v * (1.0 - 1e-3 * ks_uniform(ks_random(seed, i)));
    if (other >= low && other <= top) v = other;
  }
  return v < low ? low : v > top ? top : v;
}
__device__ double ks_edge(int floating, u64 seed, u64 i, double low, double high, double top) {
  const u64 run = ks_random(seed, i / 61ull);
  const double zero = low <= 0 && top >= 0 ? 0.0 : low;
  switch (run % 7ull) {
    case 0: return low;
    case 1: return top;
    case 2: return zero;
    case 3: return i & 1ull ? low : top;
    case 4: return i % 61ull == run / 7ull % 61ull ? top : zero;
    default: return ks_drawn(floating, ks_random(seed, i), low, high, top);
  }
}

// What elements that follow one another are drawn from: a part of the range of their array. See Stretches of the host
// evaluator, which does the same by other numbers; `shift` is the length of a stretch as a power of two.
struct ks_part {
  double low, high;    // of every element, or of those at place `full` of each period
  double low2, high2;  // of the others
  u32 zeros, period, full;
  u64 outlier;         // the place of an element near an end of the array's range
};
__device__ void ks_narrow(int normal, int zero, u64 e, double* low, double* high) {
  const double u = (double)(e & 1023ull) / 1024.0, w = (double)(e >> 10 & 1023ull) / 1024.0;
  const double scale = 1.0 / (1.5 + 6.5 * u * u), span = *high - *low, width = 0.5 + 0.5 * u;
  if (zero) {  // towards 0
    *low *= scale;
    *high *= scale;
  } else if (normal) {
    *high *= scale;
  } else {
    *low += span * (1.0 - width) * w;
    *high = *low + span * width;
  }
}
__device__ ks_part ks_part_at(int init, u64 seed, u64 stretch, int shift, double low, double high, double top) {
  const int normal = init == 3, zero = normal ? ks_abs(low) <= high : low <= 0 && top >= 0;
  const int mixed = zero && !normal && low < 0 && top > 0;
  const u64 h = ks_random(seed ^ 0x6a09e667f3bcc908ull, stretch), e = ks_random(seed ^ 0xbb67ae8584caa73bull, h & 7ull);
  const u32 kind = (u32)(e >> 32 & 7ull);
  ks_part p;
  p.low = p.low2 = low;
  p.high = p.high2 = high;
  p.zeros = 0;
  p.period = 1;
  p.full = 0;
  if (kind == 5) {
    p.period = 2u << (u32)(e >> 36 & 3ull) % 3u;
    p.full = (u32)(e >> 40) & (p.period - 1u);
    ks_narrow(normal, zero, e, &p.low2, &p.high2);
  } else if (kind >= 2 && kind != 7) {
    ks_narrow(normal, zero && (mixed || kind != 4), e, &p.low, &p.high);
  }
  if (kind >= 6 && zero) p.zeros = 64u + (u32)(e >> 48) % 177u;
  p.outlier = h >> 8 & 1ull ? (stretch << shift) + (h >> 16 & ((1ull << shift) - 1ull)) : ~0ull;
  return p;
}
// An element of a declared draw: `place` is its index with what the stretches are shifted by.
__device__ double ks_declared(const ks_part& p, int type, int init, u64 seed, u64 i, u64 place, double low, double high,
                              double top) {
  const u64 r = ks_random(seed, i);
  const int first = (place & (u64)(p.period - 1u)) == (u64)p.full;
  const double a = first ? p.low : p.low2, b = first ? p.high : p.high2;
  double v;
  if (type == 12) return ks_uniform(r) < b ? 1.0 : 0.0;
  if (place == p.outlier && init != 3) {
    const double depth = (high - low) * ks_uniform(r) / 16.0;
    v = r & 1ull ? top - depth : low + depth;
    if (type > 3) v = floor(v);
    return v < low ? low : v;
  }
  if ((u32)(r & 255ull) < p.zeros) return 0.0;
  if (init == 3) {
    const double u = ks_uniform(ks_random(seed ^ 0x2545f4914f6cdd1dull, i));
    v = a + b * sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * ks_uniform(r));
    return type > 3 ? rint(v) : v;
  }
  v = ks_drawn(type <= 3, r, a, b, top);
  return v < low ? low : v;
}

extern "C" __global__ void ks_fill(void* out, u64 count, int type, int init, int flavour, u64 seed, double low,
                                   double high, double top, u64 factor, int magnitudes) {
  const int floating = type <= 3;
  const double decades = type == 0 ? 4.0 : type == 3 ? 24.0 : 12.0;
  const u64 stride = (u64)gridDim.x * blockDim.x;
  if (flavour == 0 && factor != 0 && (init == 2 || init == 3)) {  // what timed calls are mostly given
    // Tiles, so that the parameters of a stretch are seldom computed.
    const int shift = (int)factor - 1;
    const u64 begin = ks_random(seed, ~0ull) & ((1ull << shift) - 1ull), tile = 8ull * blockDim.x;
    u64 known = ~0ull;
    ks_part part = {};
    for (u64 base = (u64)blockIdx.x * tile; base < count; base += (u64)gridDim.x * tile)
      for (int k = 0; k < 8; ++k) {
        const u64 i = base + (u64)k * blockDim.x + threadIdx.x;
        if (i >= count) break;
        const u64 place = i + begin;
        if (place >> shift != known) {
          known = place >> shift;
          part = ks_part_at(init, seed, known, shift, low, high, top);
        }
        const double v = ks_declared(part, type, init, seed, i, place, low, high, top);
        if (type == 2) ((float*)out)[i] = (float)(magnitudes ? ks_abs(v) : v);
        else ks_store(type, out, i, magnitudes && floating ? ks_abs(v) : v);
      }
    return;
  }
  if (init == 2 && flavour == 0 && type == 2) {  // nothing to be decided for each
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
      const double v = ks_drawn(1, ks_random(seed, i), low, high, top);
      ((float*)out)[i] = (float)(magnitudes ? ks_abs(v) : v);
    }
    return;
  }
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    double v = 0;
    const u64 r = ks_random(seed, i);
    if (init == 0) v = 0;
    else if (init == 1) v = 1;
    else if (init == 4) v = (double)(i % factor);                        // arange
    else if (init == 5) v = (double)((factor * i + seed % count) % count);  // factor has no divisor in common with count
    else if (type == 12) v = flavour == 1 ? (double)(ks_random(seed, i / 61ull) & 1ull) : (double)(r & 1ull);
    else if (init == 3 && flavour == 0) {
      const double u = ks_uniform(ks_random(seed ^ 0x2545f4914f6cdd1dull, i)), w = ks_uniform(r);
      v = low + high * sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * w);
      if (!floating) v = rint(v);
    } else {
      const double a = init == 3 ? low - 4 * high : low, b = init == 3 ? low + 4 * high : high;
      const double c = init == 3 ? b : top;
      if (flavour == 1) v = ks_edge(floating, seed, i, a, b, c);
      else if ((flavour == 2 || init == 6) && floating) v = ks_decades(seed, i, decades, a, b, c);
      else v = ks_drawn(floating, r, a, b, c);
    }
    ks_store(type, out, i, magnitudes && floating ? ks_abs(v) : v);
  }
}

extern "C" __global__ void ks_pattern(u8* out, u64 count, u64 word, int random) {
  const u64 stride = (u64)gridDim.x * blockDim.x, words = count / 8ull;
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  for (u64 i = first; i < words; i += stride) ((u64*)out)[i] = random ? ks_random(word, i) : word;
  for (u64 i = words * 8ull + first; i < count; i += stride)
    out[i] = (u8)((random ? ks_random(word, i / 8ull) : word) >> (8ull * (i % 8ull)));
}

extern "C" __global__ void ks_pattern_bytes(u8* out, u64 count, u64 word, int random) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = (u8)((random ? ks_random(word, i / 8ull) : word) >> (8ull * (i % 8ull)));
}

extern "C" __global__ void ks_pattern_check(const u8* in, u64 count, u64 word, u64* result) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 wrong = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    wrong += in[i] != (u8)(ks_random(word, i / 8ull) >> (8ull * (i % 8ull)));
  if (wrong) atomicAdd(result, wrong);
}

// A sum over mixed words: the same for every grid, and cheap to take in parallel. One addition for each block of
// at most 256 threads: additions of all threads to one word took ten times as long as reading the array.
extern "C" __global__ void ks_hash(const u8* in, u64 count, u64* result) {
  const u64 stride = (u64)gridDim.x * blockDim.x, words = count / 8ull;
  const u64 first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 sum = 0;
  for (u64 i = first; i < words; i += stride) sum += ks_mix(((const u64*)in)[i] ^ (i * 0x9e3779b97f4a7c15ull));
  for (u64 i = words * 8ull + first; i < count; i += stride) sum += ks_mix((u64)in[i] ^ (~i * 0x9e3779b97f4a7c15ull));
  if (words < 8192ull) {  // few enough
    if (sum) atomicAdd(result, sum);
    return;
  }
  __shared__ u64 parts[256];
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < 16) {
    for (unsigned i = threadIdx.x + 16; i < blockDim.x; i += 16) sum += parts[i];
    parts[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 1; i < 16; ++i) sum += parts[i];
    if (sum) atomicAdd(result, sum);
  }
}

extern "C" __global__ void ks_equal_count(const u8* in, u64 count, int size, u64 word, u64* result) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 equal = 0;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    if (size == 8) equal += ((const u64*)in)[i] == word;
    else if (size == 4) equal += ((const u32*)in)[i] == (u32)word;
    else equal += ((const u16*)in)[i] == (u16)word;
  }
  if (equal) atomicAdd(result, equal);
}

extern "C" __global__ void ks_widen(const void* in, void* out, u64 count, int type, int real) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
    ks_store(real, out, i, ks_load(type, in, i));
}

extern "C" __global__ void ks_compare(const void* got, const void* expected, const double* slack, u64 count, int type,
                                      int expected_type, double absolute, double relative, double overflow,
                                      u64 got_stride, u64 expected_stride, int bits, u64* result) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  u64 wrong = 0, first = ~0ull;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double extra = slack ? slack[i] : 0.0;
    if (ks_infinite(extra)) continue;
    bool right = false;
    const u8 *const g_at = (const u8*)got + i * got_stride, *const e_at = (const u8*)expected + i * expected_stride;
    if (bits & 1) {
      const u64 size = ks_size(type);
      right = true;
      for (u64 b = 0; b < size; ++b) right = right && g_at[b] == e_at[b];
      if (!right && type <= 3) right = ks_nan(ks_load(type, g_at, 0)) && ks_nan(ks_load(type, e_at, 0));
    } else if (type == 7 || type == 11) {  // 64-bit integers: a double would swallow the last bits
      right = *(const u64*)g_at == *(const u64*)e_at;
      if (!right && (absolute > 0 || relative > 0)) {
        const double e = ks_load(type, e_at, 0);
        right = ks_abs(ks_load(type, g_at, 0) - e) <= absolute + relative * ks_abs(e);
      }
    } else {
      // Two elements share a byte from type 15 on.
      const double g = type > 14 ? ks_load(type, got, i) : ks_load(type, g_at, 0),
                   e = expected_type > 14 ? ks_load(expected_type, expected, i) : ks_load(expected_type, e_at, 0);
      const double allowed = absolute + relative * ks_abs(e) + extra;
      const bool overflows = ks_infinite(e) || ks_abs(e) + (bits & 8 ? 0.0 : allowed) >= overflow, same_sign = (g > 0) == (e > 0);
      const double largest = type == 13 ? 448.0 : type == 14 ? 57344.0 : 6.0;
      if (ks_nan(e)) right = ks_nan(g);
      else if (type >= 13 && type <= 15 && overflows && (ks_nan(g) ? type == 13 : same_sign && ks_abs(g) >= largest))
        right = true;  // conversions that saturate, and of f8e4m3 those that do not
      else if (ks_nan(g)) right = false;
      else if (ks_infinite(g) && (bits & 2 || (bits & 4 && g > 0))) right = false;
      else if (ks_infinite(e)) right = g == e;
      else if (ks_infinite(g)) right = same_sign && overflows;
      else right = ks_abs(g - e) <= allowed;
    }
    if (right) continue;
    ++wrong;
    first = i < first ? i : first;
  }
  if (wrong) {
    atomicAdd(result, wrong);
    atomicMin(result + 1, first);
  }
}

// exact becomes what an honest kernel may be off by; see InputSets of the host evaluator.
extern "C" __global__ void ks_slack(const double* exact, const double* magnitude, const void* kernel, int kernel_type,
                                    double* out, u64 count, double relative) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double e = exact[i], m = ks_abs(magnitude[i]), k = ks_load(kernel_type, kernel, i);
    double s = 0;
    if (!(ks_infinite(e) && k == e)) {
      const bool tame = !ks_nan(e) && !ks_infinite(e) && !ks_nan(m) && !ks_infinite(m) && !ks_nan(k) && !ks_infinite(k);
      const double over = m - ks_abs(e);
      s = tame ? relative * (over > 0 ? over : 0.0) + 4 * ks_abs(k - e) : ks_from_bits(0x7ff0000000000000ull);
    }
    out[i] = s;
  }
}

extern "C" __global__ void ks_element(const void* in, u64 index, int type, u64 stride, u64* result) {
  if (blockIdx.x == 0 && threadIdx.x == 0) 
    *result = ks_bits(type > 14 ? ks_load(type, in, index) : ks_load(type, (const u8*)in + index * stride, 0));
}

extern "C" __global__ void ks_flush(u64* scratch, u64 words, u64 value) {
  const u64 stride = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) scratch[i] += value;
}
