// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/element_access.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class Decode, class Encode>
int wrong_round_trips(Decode decode, Encode encode) {
  int wrong = 0;
  for (unsigned pattern = 0; pattern < 65536; ++pattern)
    wrong += encode(decode(static_cast<std::uint16_t>(pattern))) != pattern;
  return wrong;
}

/// Between neighbours: the midpoint goes to the even pattern, anything off it to the nearer one.
template <class Decode, class Encode>
int wrong_roundings(unsigned infinity_pattern, double largest_step, Decode decode, Encode encode) {
  int wrong = 0;
  for (unsigned p = 0; p < infinity_pattern; ++p) {
    const double a = decode(static_cast<std::uint16_t>(p));
    const double b = p + 1 == infinity_pattern ? a + largest_step : decode(static_cast<std::uint16_t>(p + 1));
    const double middle = (a + b) / 2;
    for (const unsigned sign : {0U, 0x8000U}) {
      const double s = sign != 0 ? -1.0 : 1.0;
      wrong += encode(s * middle) != (sign | (p % 2 == 0 ? p : p + 1));
      wrong += encode(s * std::nextafter(middle, 0.0)) != (sign | p);
      wrong += encode(s * std::nextafter(middle, infinity)) != (sign | (p + 1));
    }
  }
  return wrong;
}

template <class T>
T stored(ElementType type, double value) {
  std::byte bytes[sizeof(T)];
  store_element(type, value, bytes);
  T result;
  std::memcpy(&result, bytes, sizeof result);
  return result;
}

}  // namespace

TEST_CASE("f16 and bf16: every pattern survives the way to double and back") {
  CHECK(wrong_round_trips(double_from_f16, f16_from_double) == 0);
  CHECK(wrong_round_trips(double_from_bf16, bf16_from_double) == 0);
}

TEST_CASE("f16 and bf16: every rounding goes to the nearest, ties to even") {
  CHECK(wrong_roundings(0x7c00, 32.0, double_from_f16, f16_from_double) == 0);
  CHECK(wrong_roundings(0x7f80, std::ldexp(1.0, 120), double_from_bf16, bf16_from_double) == 0);
}

TEST_CASE("f16 and bf16: known values") {
  CHECK(double_from_f16(0x3c00) == 1.0);
  CHECK(double_from_f16(0xc000) == -2.0);
  CHECK(double_from_f16(0x7bff) == 65504.0);
  CHECK(double_from_f16(0x0001) == std::ldexp(1.0, -24));
  CHECK(double_from_f16(0x7c00) == infinity);
  CHECK(std::isnan(double_from_f16(0x7e01)));
  CHECK(std::signbit(double_from_f16(0x8000)));
  CHECK(f16_from_double(1e10) == 0x7c00);
  CHECK(f16_from_double(-1e300) == 0xfc00);
  CHECK(f16_from_double(1e-300) == 0);
  CHECK(f16_from_double(std::numeric_limits<double>::denorm_min()) == 0);
  CHECK(double_from_bf16(0x3f80) == 1.0);
  CHECK(double_from_bf16(0x7f7f) == static_cast<double>(0x1.fep127f));
  // Through float this would round twice, first onto the tie and then to even.
  CHECK(f16_from_double(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)) == 0x3c01);
}

TEST_CASE("store_element: integers round to even, saturate and drop NaN") {
  CHECK(stored<std::int8_t>(ElementType::i8, 200.0) == 127);
  CHECK(stored<std::int8_t>(ElementType::i8, -200.0) == -128);
  CHECK(stored<std::int32_t>(ElementType::i32, 2.5) == 2);
  CHECK(stored<std::int32_t>(ElementType::i32, 3.5) == 4);
  CHECK(stored<std::uint16_t>(ElementType::u16, -1.0) == 0);
  CHECK(stored<std::int64_t>(ElementType::i64, 1e30) == std::numeric_limits<std::int64_t>::max());
  CHECK(stored<std::uint64_t>(ElementType::u64, 1e30) == std::numeric_limits<std::uint64_t>::max());
  CHECK(stored<std::int16_t>(ElementType::i16, std::nan("")) == 0);
  CHECK(stored<std::uint8_t>(ElementType::boolean, -0.5) == 1);
  CHECK(stored<std::uint8_t>(ElementType::boolean, 0.0) == 0);
  std::byte byte{};
  store_element(ElementType::u8, std::int64_t{300}, &byte);
  CHECK(std::to_integer<int>(byte) == 255);
  store_element(ElementType::u8, std::int64_t{-3}, &byte);
  CHECK(std::to_integer<int>(byte) == 0);
}

TEST_CASE("load_element gives back what store_element wrote, for every type") {
  Rng rng(7);
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    CAPTURE(to_string(type));
    const auto limit = static_cast<std::uint64_t>(largest_exact_integer(type)) + 1;
    for (int i = 0; i < 200; ++i) {
      const auto whole = static_cast<std::int64_t>(rng.below(limit));
      std::byte bytes[9];  // one byte off any alignment
      store_element(type, static_cast<double>(whole), bytes + 1);
      CHECK(load_element(type, bytes + 1) == static_cast<double>(whole));
      store_element(type, whole, bytes + 1);
      CHECK(load_element(type, bytes + 1) == static_cast<double>(whole));
    }
    std::byte bytes[8];
    store_element(type, largest_exact_integer(type), bytes);
    CHECK(load_element(type, bytes) == static_cast<double>(largest_exact_integer(type)));
  }
}

TEST_CASE("smallest_from and greatest_below are the tightest bounds of the type") {
  for (const auto type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    CAPTURE(to_string(type));
    CHECK(smallest_from(type, 1.0) == 1.0);
    CHECK(greatest_below(type, 1.0) < 1.0);
    CHECK(smallest_from(type, greatest_below(type, 1.0)) == greatest_below(type, 1.0));
    CHECK(greatest_below(type, 0.0) < 0.0);
    CHECK(smallest_from(type, -0.1) >= -0.1);
    CHECK(greatest_below(type, -0.1) < -0.1);
    CHECK(smallest_from(type, 0.1) - greatest_below(type, 0.1) <= 0.1 * std::ldexp(1.0, -7));
  }
  CHECK(greatest_below(ElementType::f16, 1.0) == 1.0 - std::ldexp(1.0, -11));
  CHECK(greatest_below(ElementType::bf16, 1.0) == 1.0 - std::ldexp(1.0, -8));
  CHECK(smallest_from(ElementType::f16, 1.0001) == 1.0 + std::ldexp(1.0, -10));
}
