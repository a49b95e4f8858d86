// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/element_access.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernelsearch {
namespace {

template <class T>
T load(const std::byte* in) noexcept {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

template <class T>
void store(std::byte* out, T value) noexcept {
  std::memcpy(out, &value, sizeof value);
}

/// Which patterns of a format are not numbers.
enum class Special : std::uint8_t {
  ieee,     ///< those whose exponent is all ones: infinities and NaNs
  one_nan,  ///< the greatest magnitude is a NaN, and nothing is infinite
  none,
};

/// Rounds straight from the double: going through float would round twice.
template <int exponent_bits, int mantissa_bits, Special special = Special::ieee>
std::uint16_t encode(double value) noexcept {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr std::uint64_t all_ones = (1U << exponent_bits) - 1;
  constexpr int drop = 52 - mantissa_bits;
  constexpr std::uint64_t last =
      (std::uint64_t{1} << (exponent_bits + mantissa_bits)) - 1;  // without the sign
  // What takes the place of greater numbers.
  constexpr std::uint64_t beyond = special == Special::ieee ? all_ones << mantissa_bits : last;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint64_t>((bits >> 63) << (exponent_bits + mantissa_bits));
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const auto finish = [sign](std::uint64_t magnitude) {
    return static_cast<std::uint16_t>(sign | magnitude);
  };

  if (exponent == 0x7ff) {
    if (mantissa == 0) return finish(beyond);
    if (special == Special::one_nan) return finish(last);
    if (special == Special::none) return std::uint16_t{1} << (exponent_bits + mantissa_bits);
    const std::uint64_t payload = mantissa >> drop;
    return finish((all_ones << mantissa_bits) |
                  (payload != 0 ? payload : std::uint64_t{1} << (mantissa_bits - 1)));
  }
  const int biased = exponent - 1023 + bias;
  if (biased >= static_cast<int>(all_ones) + (special == Special::ieee ? 0 : 1)) return finish(beyond);

  std::uint64_t kept = 0;
  std::uint64_t rest = 0;
  int shift = drop;
  if (biased >= 1) {
    kept = (static_cast<std::uint64_t>(biased) << mantissa_bits) | (mantissa >> shift);
    rest = mantissa & ((std::uint64_t{1} << shift) - 1);
  } else {  // subnormal: the leading one becomes an explicit bit
    shift += 1 - biased;
    if (shift > 53) return finish(0);
    const std::uint64_t significand = (std::uint64_t{1} << 52) | mantissa;
    kept = significand >> shift;
    rest = significand & ((std::uint64_t{1} << shift) - 1);
  }
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0))
    ++kept;  // the carry runs into the exponent, as it should
  return finish(kept > beyond ? beyond : kept);
}

template <int exponent_bits, int mantissa_bits, Special special = Special::ieee>
double decode(std::uint16_t pattern) noexcept {
  constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  constexpr int all_ones = (1 << exponent_bits) - 1;
  const int exponent = (pattern >> mantissa_bits) & all_ones;
  const auto mantissa = static_cast<std::uint64_t>(pattern & ((1 << mantissa_bits) - 1));
  const auto sign = static_cast<std::uint64_t>(pattern >> (exponent_bits + mantissa_bits) & 1) << 63;
  if (special == Special::one_nan &&
      (pattern & ((1 << (exponent_bits + mantissa_bits)) - 1)) == (1 << (exponent_bits + mantissa_bits)) - 1)
    return std::bit_cast<double>(sign | (std::uint64_t{0x7ff8} << 48));
  if (special == Special::ieee && exponent == all_ones)
    return std::bit_cast<double>(sign | (std::uint64_t{0x7ff} << 52) | (mantissa << (52 - mantissa_bits)));
  if (exponent == 0) {
    const double magnitude = std::ldexp(static_cast<double>(mantissa), 1 - bias - mantissa_bits);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(sign | (static_cast<std::uint64_t>(exponent - bias + 1023) << 52) |
                               (mantissa << (52 - mantissa_bits)));
}

template <class T>
void store_integer(std::byte* out, double value) noexcept {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return store(out, T{0});
  value = std::nearbyint(value);
  if (value <= static_cast<double>(Limits::min())) return store(out, Limits::min());
  if (value >= std::ldexp(1.0, Limits::digits)) return store(out, Limits::max());
  store(out, static_cast<T>(value));
}

template <class T>
void store_integer(std::byte* out, std::int64_t value) noexcept {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_unsigned_v<T>) {
    if (value < 0) return store(out, T{0});
    if (static_cast<std::uint64_t>(value) > Limits::max()) return store(out, Limits::max());
  } else {
    if (value < Limits::min()) return store(out, Limits::min());
    if (value > Limits::max()) return store(out, Limits::max());
  }
  store(out, static_cast<T>(value));
}

/// Into the lower four bits.
template <class V>
void store_four_bits(std::byte* out, V value, int least, int greatest) noexcept {
  std::int8_t whole = 0;
  store_integer<std::int8_t>(reinterpret_cast<std::byte*>(&whole), value);
  const int clamped = whole < least ? least : whole > greatest ? greatest : whole;
  store(out, static_cast<std::uint8_t>(clamped & 15));
}

template <class V>
void store_any(ElementType type, V value, std::byte* out) noexcept {
  switch (type) {
    case ElementType::f16:
      return store(out, f16_from_double(static_cast<double>(value)));
    case ElementType::bf16:
      return store(out, bf16_from_double(static_cast<double>(value)));
    case ElementType::f32:
      return store(out, static_cast<float>(value));
    case ElementType::f64:
      return store(out, static_cast<double>(value));
    case ElementType::i8:
      return store_integer<std::int8_t>(out, value);
    case ElementType::i16:
      return store_integer<std::int16_t>(out, value);
    case ElementType::i32:
      return store_integer<std::int32_t>(out, value);
    case ElementType::i64:
      return store_integer<std::int64_t>(out, value);
    case ElementType::u8:
      return store_integer<std::uint8_t>(out, value);
    case ElementType::u16:
      return store_integer<std::uint16_t>(out, value);
    case ElementType::u32:
      return store_integer<std::uint32_t>(out, value);
    case ElementType::u64:
      return store_integer<std::uint64_t>(out, value);
    case ElementType::boolean:
      return store(out, static_cast<std::uint8_t>(value != V{0} ? 1 : 0));
    case ElementType::f8e4m3:
      return store(out, f8e4m3_from_double(static_cast<double>(value)));
    case ElementType::f8e5m2:
      return store(out, f8e5m2_from_double(static_cast<double>(value)));
    case ElementType::f4e2m1:
      return store(out, f4e2m1_from_double(static_cast<double>(value)));
    case ElementType::i4:
      return store_four_bits(out, value, -8, 7);
    case ElementType::u4:
      return store_four_bits(out, value, 0, 15);
    case ElementType::c64:
      store(out, static_cast<float>(value));
      return store(out + sizeof(float), 0.0f);
  }
}

template <class V>
void store_at(ElementType type, V value, std::byte* out, std::size_t index) noexcept {
  if (!is_packed(type)) return store_any(type, value, out + index * size_in_bytes(type));
  std::byte four{};
  store_any(type, value, &four);
  std::byte& both = out[index / 2];
  both = index % 2 == 0 ? (both & std::byte{0xf0}) | four : (both & std::byte{0x0f}) | four << 4;
}

double rounded(ElementType type, double value) noexcept {
  std::byte bytes[8];
  store_element(type, value, bytes);
  return load_element(type, bytes);
}

/// The smallest value of a small type that is >= `bound`, else infinity.
double next_of_few(ElementType type, double bound) noexcept {
  double found = std::numeric_limits<double>::infinity();
  for (int pattern = 0; pattern < (is_packed(type) ? 16 : 256); ++pattern) {
    const auto byte = static_cast<std::byte>(pattern);
    const double value = load_element(type, &byte);
    if (value >= bound && value < found) found = value == 0.0 ? 0.0 : value;
  }
  return found;
}

/// The greatest value of a small type that is < `bound`, else minus infinity; `bound` may be infinite.
double previous_of_few(ElementType type, double bound) noexcept {
  double found = -std::numeric_limits<double>::infinity();
  for (int pattern = 0; pattern < (is_packed(type) ? 16 : 256); ++pattern) {
    const auto byte = static_cast<std::byte>(pattern);
    const double value = load_element(type, &byte);
    if (value < bound && value > found) found = value == 0.0 ? 0.0 : value;
  }
  return found;
}

/// The neighbour of a value of the type, upwards or downwards.
double neighbour(ElementType type, double value, bool up) noexcept {
  const double target =
      up ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  if (type == ElementType::f64) return std::nextafter(value, target);
  if (type == ElementType::f32 || type == ElementType::c64)
    return std::nextafter(static_cast<float>(value), static_cast<float>(target));
  const bool half = type == ElementType::f16;
  if (value == 0.0) {
    const double tiny = half ? double_from_f16(1) : double_from_bf16(1);
    return up ? tiny : -tiny;
  }
  const std::uint16_t pattern = half ? f16_from_double(value) : bf16_from_double(value);
  const auto next = static_cast<std::uint16_t>((value > 0) == up ? pattern + 1 : pattern - 1);
  return half ? double_from_f16(next) : double_from_bf16(next);
}

}  // namespace

std::uint16_t f16_from_double(double value) noexcept {
  return encode<5, 10>(value);
}
double double_from_f16(std::uint16_t pattern) noexcept {
  return decode<5, 10>(pattern);
}
std::uint16_t bf16_from_double(double value) noexcept {
  return encode<8, 7>(value);
}
double double_from_bf16(std::uint16_t pattern) noexcept {
  return decode<8, 7>(pattern);
}

std::uint8_t f8e4m3_from_double(double value) noexcept {
  return static_cast<std::uint8_t>(encode<4, 3, Special::one_nan>(value));
}
double double_from_f8e4m3(std::uint8_t pattern) noexcept {
  return decode<4, 3, Special::one_nan>(pattern);
}
std::uint8_t f8e5m2_from_double(double value) noexcept {
  return static_cast<std::uint8_t>(encode<5, 2>(value));
}
double double_from_f8e5m2(std::uint8_t pattern) noexcept {
  return decode<5, 2>(pattern);
}
std::uint8_t f4e2m1_from_double(double value) noexcept {
  return static_cast<std::uint8_t>(encode<2, 1, Special::none>(value));
}
double double_from_f4e2m1(std::uint8_t pattern) noexcept {
  return decode<2, 1, Special::none>(pattern);
}

double load_element(ElementType type, const std::byte* in, std::size_t index) noexcept {
  if (!is_packed(type)) return load_element(type, in + index * size_in_bytes(type));
  const std::byte four = index % 2 == 0 ? in[index / 2] & std::byte{0x0f} : in[index / 2] >> 4;
  return load_element(type, &four);
}

void store_element(ElementType type, double value, std::byte* out, std::size_t index) noexcept {
  store_at(type, value, out, index);
}

void store_element(ElementType type, std::int64_t value, std::byte* out, std::size_t index) noexcept {
  store_at(type, value, out, index);
}

double load_element(ElementType type, const std::byte* in) noexcept {
  switch (type) {
    case ElementType::f16:
      return double_from_f16(load<std::uint16_t>(in));
    case ElementType::bf16:
      return double_from_bf16(load<std::uint16_t>(in));
    case ElementType::f32:
      return static_cast<double>(load<float>(in));
    case ElementType::f64:
      return load<double>(in);
    case ElementType::i8:
      return load<std::int8_t>(in);
    case ElementType::i16:
      return load<std::int16_t>(in);
    case ElementType::i32:
      return load<std::int32_t>(in);
    case ElementType::i64:
      return static_cast<double>(load<std::int64_t>(in));
    case ElementType::u8:
      return load<std::uint8_t>(in);
    case ElementType::u16:
      return load<std::uint16_t>(in);
    case ElementType::u32:
      return load<std::uint32_t>(in);
    case ElementType::u64:
      return static_cast<double>(load<std::uint64_t>(in));
    case ElementType::boolean:
      return load<std::uint8_t>(in) != 0 ? 1.0 : 0.0;
    case ElementType::f8e4m3:
      return double_from_f8e4m3(load<std::uint8_t>(in));
    case ElementType::f8e5m2:
      return double_from_f8e5m2(load<std::uint8_t>(in));
    case ElementType::f4e2m1:
      return double_from_f4e2m1(load<std::uint8_t>(in) & 15u);
    case ElementType::i4:
      return static_cast<double>(((load<std::uint8_t>(in) & 15) ^ 8) - 8);
    case ElementType::u4:
      return static_cast<double>(load<std::uint8_t>(in) & 15);
    case ElementType::c64:
      return static_cast<double>(load<float>(in));
  }
  return 0.0;
}

void store_element(ElementType type, double value, std::byte* out) noexcept {
  store_any(type, value, out);
}

void store_element(ElementType type, std::int64_t value, std::byte* out) noexcept {
  store_any(type, value, out);
}

std::int64_t largest_exact_integer(ElementType type) noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  constexpr std::int64_t largest[] = {1 << 11, 1 << 8, 1 << 24, most,       127,    32767, 2147483647,
                                      most,    255,    65535,   4294967295, most,   1,     16,
                                      8,       4,      7,       15,         1 << 24};
  return largest[static_cast<int>(type)];
}

double smallest_from(ElementType type, double bound) noexcept {
  if (is_small_float(type)) return next_of_few(type, bound);
  const double value = rounded(type, bound);
  return value >= bound ? value : neighbour(type, value, true);
}

double greatest_below(ElementType type, double bound) noexcept {
  if (is_small_float(type)) return previous_of_few(type, bound);
  const double value = rounded(type, bound);
  return value < bound ? value : neighbour(type, value, false);
}

}  // namespace kernelsearch
