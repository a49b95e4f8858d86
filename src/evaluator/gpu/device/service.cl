// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of service.cu in OpenCL C 1.2: the same arithmetic, so that every device draws the same contents and
// finds the same hashes. A place in memory is two parameters, a buffer and the byte in it, since a part of a buffer
// cannot begin anywhere. Needs cl_khr_fp64 and 64-bit atomics.
//
// Types are numbered as in ElementType: f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool; ways of filling as in
// Initialisation, flavours as in InputFlavour.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL FP_CONTRACT OFF

typedef ulong u64;
typedef long s64;
typedef uint u32;
typedef ushort u16;
typedef uchar u8;

u64 ks_bits(double v) { return as_ulong(v); }
double ks_from_bits(u64 b) { return as_double(b); }
u32 ks_bits32(float v) { return as_uint(v); }
float ks_from_bits32(u32 b) { return as_float(b); }
int ks_nan(double v) { return (ks_bits(v) & 0x7ffffffffffffffful) > 0x7ff0000000000000ul; }
int ks_infinite(double v) { return (ks_bits(v) & 0x7ffffffffffffffful) == 0x7ff0000000000000ul; }
double ks_abs(double v) { return ks_from_bits(ks_bits(v) & 0x7ffffffffffffffful); }

double ks_half(u16 h) {
  const u32 sign = (u32)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, mantissa = h & 0x3ffu;
  if (exponent == 31u) return (double)ks_from_bits32(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0u) return (sign ? -1.0 : 1.0) * (double)mantissa * 5.9604644775390625e-8;
  return (double)ks_from_bits32(sign | (exponent + 112u) << 23 | mantissa << 13);
}
u16 ks_to_half(double value) {
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
  const u64 rest = b & ((1ul << 42) - 1ul), middle = 1ul << 41;
  if (rest > middle || (rest == middle && (kept & 1ul))) ++kept;
  return (u16)(sign | (u16)(kept - ((u64)(1023 - 15) << 10)));
}
u16 ks_to_bfloat(double value) {
  const u32 b = ks_bits32((float)value);
  if (ks_nan(value)) return (u16)(b >> 16 | 0x40u);
  return (u16)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
double ks_load(int type, const __global void* at, u64 i) {
  switch (type) {
    case 0: return ks_half(((const __global u16*)at)[i]);
    case 1: return (double)ks_from_bits32((u32)((const __global u16*)at)[i] << 16);
    case 2: return (double)((const __global float*)at)[i];
    case 3: return ((const __global double*)at)[i];
    case 4: return (double)((const __global signed char*)at)[i];
    case 5: return (double)((const __global short*)at)[i];
    case 6: return (double)((const __global int*)at)[i];
    case 7: return (double)((const __global s64*)at)[i];
    case 9: return (double)((const __global u16*)at)[i];
    case 10: return (double)((const __global u32*)at)[i];
    case 11: return (double)((const __global u64*)at)[i];
    default: return (double)((const __global u8*)at)[i];
  }
}
u64 ks_size(int type) {
  return type == 3 || type == 7 || type == 11 ? 8 : type == 2 || type == 6 || type == 10 ? 4
         : type == 4 || type == 8 || type == 12 ? 1 : 2;
}
void ks_store(int type, __global void* at, u64 i, double v) {
  switch (type) {
    case 0: ((__global u16*)at)[i] = ks_to_half(v); break;
    case 1: ((__global u16*)at)[i] = ks_to_bfloat(v); break;
    case 2: ((__global float*)at)[i] = (float)v; break;
    case 3: ((__global double*)at)[i] = v; break;
    case 4: ((__global signed char*)at)[i] = (signed char)v; break;
    case 5: ((__global short*)at)[i] = (short)v; break;
    case 6: ((__global int*)at)[i] = (int)v; break;
    case 7: ((__global s64*)at)[i] = (s64)v; break;
    case 9: ((__global u16*)at)[i] = (u16)v; break;
    case 10: ((__global u32*)at)[i] = (u32)v; break;
    case 11: ((__global u64*)at)[i] = (u64)v; break;
    default: ((__global u8*)at)[i] = (u8)v; break;
  }
}
u64 ks_mix(u64 x) {  // the finaliser of SplitMix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
  return x ^ (x >> 31);
}
u64 ks_random(u64 seed, u64 i) { return ks_mix(seed + (i + 1ul) * 0x9e3779b97f4a7c15ul); }
double ks_uniform(u64 r) { return (double)(r >> 11) * 1.1102230246251565e-16; }

// A drawn value in [low, top]; `decades` of magnitudes for ill-conditioned ones.
double ks_drawn(int floating, u64 r, double low, double high, double top) {
  double v = low + (high - low) * ks_uniform(r);
  if (!floating) v = floor(v);
  return v > top ? top : v;
}
double ks_decades(u64 seed, u64 i, double decades, double low, double high, double top) {
  const u64 pair = i & ~1ul;
  const u64 r = ks_random(seed, pair), s = ks_random(seed ^ 0x5851f42d4c957f2dul, pair);
  const bool both = low < 0 && high > 0;
  const double ends = (r & 1ul) && both ? low : (high > 0 ? top : low);
  double v = ends * exp(-2.302585092994046 * decades * ks_uniform(s));
  if ((i & 1ul) && both) {
    const double other = -v * (1.0 - 1e-3 * ks_uniform(ks_random(seed, i)));
    if (other >= low && other <= top) v = other;
  }
  return v < low ? low : v > top ? top : v;
}
double ks_edge(int floating, u64 seed, u64 i, double low, double high, double top) {
  const u64 run = ks_random(seed, i / 61ul);
  const double zero = low <= 0 && top >= 0 ? 0.0 : low;
  switch (run % 7ul) {
    case 0: return low;
    case 1: return top;
    case 2: return zero;
    case 3: return i & 1ul ? low : top;
    case 4: return i % 61ul == run / 7ul % 61ul ? top : zero;
    default: return ks_drawn(floating, ks_random(seed, i), low, high, top);
  }
}

// What elements that follow one another are drawn from: a part of the range of their array. See Stretches of the host
// evaluator, which does the same by other numbers; `shift` is the length of a stretch as a power of two.
typedef struct {
  double low, high;    // of every element, or of those at place `ful` of each period
  double low2, high2;  // of the others
  u32 zeros, period, ful;
  u64 outlier;         // the place of an element near an end of the array's range
} ks_part;
void ks_narrow(int normal, int zero, u64 e, double* low, double* high) {
  const double u = (double)(e & 1023ul) / 1024.0, w = (double)(e >> 10 & 1023ul) / 1024.0;
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
ks_part ks_part_at(int init, u64 seed, u64 stretch, int shift, double low, double high, double top) {
  const int normal = init == 3, zero = normal ? ks_abs(low) <= high : low <= 0 && top >= 0;
  const int mixed = zero && !normal && low < 0 && top > 0;
  const u64 h = ks_random(seed ^ 0x6a09e667f3bcc908ul, stretch), e = ks_random(seed ^ 0xbb67ae8584caa73bul, h & 7ul);
  const u32 kind = (u32)(e >> 32 & 7ul);
  ks_part p;
  p.low = p.low2 = low;
  p.high = p.high2 = high;
  p.zeros = 0;
  p.period = 1;
  p.ful = 0;
  if (kind == 5) {
    p.period = 2u << (u32)(e >> 36 & 3ul) % 3u;
    p.ful = (u32)(e >> 40) & (p.period - 1u);
    ks_narrow(normal, zero, e, &p.low2, &p.high2);
  } else if (kind >= 2 && kind != 7) {
    ks_narrow(normal, zero && (mixed || kind != 4), e, &p.low, &p.high);
  }
  if (kind >= 6 && zero) p.zeros = 64u + (u32)(e >> 48) % 177u;
  p.outlier = h >> 8 & 1ul ? (stretch << shift) + (h >> 16 & ((1ul << shift) - 1ul)) : ~0ul;
  return p;
}
// An element of a declared draw: `place` is its index with what the stretches are shifted by.
double ks_declared(const ks_part* p, int type, int init, u64 seed, u64 i, u64 place, double low, double high,
                              double top) {
  const u64 r = ks_random(seed, i);
  const int first = (place & (u64)(p->period - 1u)) == (u64)p->ful;
  const double a = first ? p->low : p->low2, b = first ? p->high : p->high2;
  double v;
  if (type == 12) return ks_uniform(r) < b ? 1.0 : 0.0;
  if (place == p->outlier && init != 3) {
    const double depth = (high - low) * ks_uniform(r) / 16.0;
    v = r & 1ul ? top - depth : low + depth;
    if (type > 3) v = floor(v);
    return v < low ? low : v;
  }
  if ((u32)(r & 255ul) < p->zeros) return 0.0;
  if (init == 3) {
    const double u = ks_uniform(ks_random(seed ^ 0x2545f4914f6cdd1dul, i));
    v = a + b * sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * ks_uniform(r));
    return type > 3 ? rint(v) : v;
  }
  v = ks_drawn(type <= 3, r, a, b, top);
  return v < low ? low : v;
}

__kernel void ks_fill(__global u8* out_memory, u64 out_byte, u64 count, int type, int init, int flavour, u64 seed,
                      double low, double high, double top, u64 factor, int magnitudes) {
  __global void* out = (__global void*)(out_memory + out_byte);
  const int floating = type <= 3;
  const double decades = type == 0 ? 4.0 : type == 3 ? 24.0 : 12.0;
  const u64 stride = get_global_size(0);
  if (flavour == 0 && factor != 0 && (init == 2 || init == 3)) {  // what timed calls are mostly given
    // Tiles, so that the parameters of a stretch are seldom computed.
    const int shift = (int)factor - 1;
    const u64 begin = ks_random(seed, ~0ul) & ((1ul << shift) - 1ul), tile = 8ul * get_local_size(0);
    u64 known = ~0ul;
    ks_part part = {0};
    for (u64 base = (u64)get_group_id(0) * tile; base < count; base += (u64)get_num_groups(0) * tile)
      for (int k = 0; k < 8; ++k) {
        const u64 i = base + (u64)k * get_local_size(0) + get_local_id(0);
        if (i >= count) break;
        const u64 place = i + begin;
        if (place >> shift != known) {
          known = place >> shift;
          part = ks_part_at(init, seed, known, shift, low, high, top);
        }
        const double v = ks_declared(&part, type, init, seed, i, place, low, high, top);
        if (type == 2) ((__global float*)out)[i] = (float)(magnitudes ? ks_abs(v) : v);
        else ks_store(type, out, i, magnitudes && floating ? ks_abs(v) : v);
      }
    return;
  }
  if (init == 2 && flavour == 0 && type == 2) {  // nothing to be decided for each
    for (u64 i = get_global_id(0); i < count; i += stride) {
      const double v = ks_drawn(1, ks_random(seed, i), low, high, top);
      ((__global float*)out)[i] = (float)(magnitudes ? ks_abs(v) : v);
    }
    return;
  }
  for (u64 i = get_global_id(0); i < count; i += stride) {
    double v = 0;
    const u64 r = ks_random(seed, i);
    if (init == 0) v = 0;
    else if (init == 1) v = 1;
    else if (init == 4) v = (double)(i % factor);                        // arange
    else if (init == 5) v = (double)((factor * i + seed % count) % count);  // factor has no divisor in common with count
    else if (type == 12) v = flavour == 1 ? (double)(ks_random(seed, i / 61ul) & 1ul) : (double)(r & 1ul);
    else if (init == 3 && flavour == 0) {
      const double u = ks_uniform(ks_random(seed ^ 0x2545f4914f6cdd1dul, i)), w = ks_uniform(r);
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

__kernel void ks_pattern(__global u8* out_memory, u64 out_byte, u64 count, u64 word, int random) {
  __global u8* out = (__global u8*)(out_memory + out_byte);
  const u64 stride = get_global_size(0), words = count / 8ul;
  const u64 first = get_global_id(0);
  for (u64 i = first; i < words; i += stride) ((__global u64*)out)[i] = random ? ks_random(word, i) : word;
  for (u64 i = words * 8ul + first; i < count; i += stride)
    out[i] = (u8)((random ? ks_random(word, i / 8ul) : word) >> (8ul * (i % 8ul)));
}

__kernel void ks_pattern_bytes(__global u8* out_memory, u64 out_byte, u64 count, u64 word, int random) {
  __global u8* out = (__global u8*)(out_memory + out_byte);
  const u64 stride = get_global_size(0);
  for (u64 i = get_global_id(0); i < count; i += stride)
    out[i] = (u8)((random ? ks_random(word, i / 8ul) : word) >> (8ul * (i % 8ul)));
}

__kernel void ks_pattern_check(__global u8* in_memory, u64 in_byte, u64 count, u64 word, __global u8* result_memory,
                               u64 result_byte) {
  const __global u8* in = (__global u8*)(in_memory + in_byte);
  __global u64* result = (__global u64*)(result_memory + result_byte);
  const u64 stride = get_global_size(0);
  u64 wrong = 0;
  for (u64 i = get_global_id(0); i < count; i += stride)
    wrong += in[i] != (u8)(ks_random(word, i / 8ul) >> (8ul * (i % 8ul)));
  if (wrong) atom_add(result, wrong);
}

// A sum over mixed words: the same for every grid, and cheap to take in parallel. One addition for each block of
// at most 256 threads: additions of all threads to one word took ten times as long as reading the array.
__kernel void ks_hash(__global u8* in_memory, u64 in_byte, u64 count, __global u8* result_memory, u64 result_byte) {
  const __global u8* in = (__global u8*)(in_memory + in_byte);
  __global u64* result = (__global u64*)(result_memory + result_byte);
  const u64 stride = get_global_size(0), words = count / 8ul;
  const u64 first = get_global_id(0);
  u64 sum = 0;
  for (u64 i = first; i < words; i += stride) sum += ks_mix(((const __global u64*)in)[i] ^ (i * 0x9e3779b97f4a7c15ul));
  for (u64 i = words * 8ul + first; i < count; i += stride) sum += ks_mix((u64)in[i] ^ (~i * 0x9e3779b97f4a7c15ul));
  __local u64 parts[256];
  parts[get_local_id(0)] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) < 16) {
    for (uint i = get_local_id(0) + 16; i < get_local_size(0); i += 16) sum += parts[i];
    parts[get_local_id(0)] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    for (uint i = 1; i < 16; ++i) sum += parts[i];
    if (sum) atom_add(result, sum);
  }
}

__kernel void ks_equal_count(__global u8* in_memory, u64 in_byte, u64 count, int size, u64 word,
                             __global u8* result_memory, u64 result_byte) {
  const __global u8* in = (__global u8*)(in_memory + in_byte);
  __global u64* result = (__global u64*)(result_memory + result_byte);
  const u64 stride = get_global_size(0);
  u64 equal = 0;
  for (u64 i = get_global_id(0); i < count; i += stride) {
    if (size == 8) equal += ((const __global u64*)in)[i] == word;
    else if (size == 4) equal += ((const __global u32*)in)[i] == (u32)word;
    else equal += ((const __global u16*)in)[i] == (u16)word;
  }
  if (equal) atom_add(result, equal);
}

__kernel void ks_widen(__global u8* in_memory, u64 in_byte, __global u8* out_memory, u64 out_byte, u64 count,
                       int type, int real) {
  const __global void* in = (__global void*)(in_memory + in_byte);
  __global void* out = (__global void*)(out_memory + out_byte);
  const u64 stride = get_global_size(0);
  for (u64 i = get_global_id(0); i < count; i += stride)
    ks_store(real, out, i, ks_load(type, in, i));
}

__kernel void ks_compare(__global u8* got_memory, u64 got_byte, __global u8* expected_memory, u64 expected_byte,
                         __global u8* slack_memory, u64 slack_byte, u64 count, int type, int expected_type,
                         double absolute, double relative, double overflow, u64 got_stride, u64 expected_stride,
                         int bits, __global u8* result_memory, u64 result_byte) {
  const __global void* got = (__global void*)(got_memory + got_byte);
  const __global void* expected = (__global void*)(expected_memory + expected_byte);
  const __global double* slack = slack_memory ? (__global double*)(slack_memory + slack_byte) : 0;
  __global u64* result = (__global u64*)(result_memory + result_byte);
  const u64 stride = get_global_size(0);
  u64 wrong = 0, first = ~0ul;
  for (u64 i = get_global_id(0); i < count; i += stride) {
    const double extra = slack ? slack[i] : 0.0;
    if (ks_infinite(extra)) continue;
    int right;
    const __global u8* g_at = (const __global u8*)got + i * got_stride;
    const __global u8* e_at = (const __global u8*)expected + i * expected_stride;
    if (bits & 1) {
      const u64 size = ks_size(type);
      right = true;
      for (u64 b = 0; b < size; ++b) right = right && g_at[b] == e_at[b];
      if (!right && type <= 3) right = ks_nan(ks_load(type, g_at, 0)) && ks_nan(ks_load(type, e_at, 0));
    } else if (type == 7 || type == 11) {  // 64-bit integers: a double would swallow the last bits
      right = *(const __global u64*)g_at == *(const __global u64*)e_at;
      if (!right && (absolute > 0 || relative > 0)) {
        const double e = ks_load(type, e_at, 0);
        right = ks_abs(ks_load(type, g_at, 0) - e) <= absolute + relative * ks_abs(e);
      }
    } else {
      const double g = ks_load(type, g_at, 0), e = ks_load(expected_type, e_at, 0);
      const double allowed = absolute + relative * ks_abs(e) + extra;
      if (ks_nan(e)) right = ks_nan(g);
      else if (ks_nan(g)) right = false;
      else if (ks_infinite(g) && ((bits & 2) || ((bits & 4) && g > 0))) right = false;
      else if (ks_infinite(e)) right = g == e;
      else if (ks_infinite(g)) right = (g > 0) == (e > 0) && ks_abs(e) + (bits & 8 ? 0.0 : allowed) >= overflow;
      else right = ks_abs(g - e) <= allowed;
    }
    if (right) continue;
    ++wrong;
    first = i < first ? i : first;
  }
  if (wrong) {
    atom_add(result, wrong);
    atom_min(result + 1, first);
  }
}

// exact becomes what an honest kernel may be off by; see InputSets of the host evaluator.
__kernel void ks_slack(__global u8* exact_memory, u64 exact_byte, __global u8* magnitude_memory, u64 magnitude_byte,
                       __global u8* narrow_memory, u64 narrow_byte, int kernel_type, __global u8* out_memory,
                       u64 out_byte, u64 count, double relative) {
  const __global double* exact = (__global double*)(exact_memory + exact_byte);
  const __global double* magnitude = (__global double*)(magnitude_memory + magnitude_byte);
  const __global void* narrow = (__global void*)(narrow_memory + narrow_byte);
  __global double* out = (__global double*)(out_memory + out_byte);
  const u64 stride = get_global_size(0);
  for (u64 i = get_global_id(0); i < count; i += stride) {
    const double e = exact[i], m = ks_abs(magnitude[i]), k = ks_load(kernel_type, narrow, i);
    double s = 0;
    if (!(ks_infinite(e) && k == e)) {
      const bool tame = !ks_nan(e) && !ks_infinite(e) && !ks_nan(m) && !ks_infinite(m) && !ks_nan(k) && !ks_infinite(k);
      const double over = m - ks_abs(e);
      s = tame ? relative * (over > 0 ? over : 0.0) + 4 * ks_abs(k - e) : ks_from_bits(0x7ff0000000000000ul);
    }
    out[i] = s;
  }
}

__kernel void ks_element(__global u8* in_memory, u64 in_byte, u64 index, int type, u64 stride,
                         __global u8* result_memory, u64 result_byte) {
  const __global void* in = (__global void*)(in_memory + in_byte);
  __global u64* result = (__global u64*)(result_memory + result_byte);
  if (get_group_id(0) == 0 && get_local_id(0) == 0) *result = ks_bits(ks_load(type, (const __global u8*)in + index * stride, 0));
}

__kernel void ks_flush(__global u8* scratch_memory, u64 scratch_byte, u64 words, u64 value) {
  __global u64* scratch = (__global u64*)(scratch_memory + scratch_byte);
  const u64 stride = get_global_size(0);
  for (u64 i = get_global_id(0); i < words; i += stride) scratch[i] += value;
}
