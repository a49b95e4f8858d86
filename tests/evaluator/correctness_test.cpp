// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/correctness.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <vector>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr Tolerance tight{1e-3, 1e-2};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Comparison compare(const std::vector<float>& got, const std::vector<double>& expected,
                   Tolerance tolerance = tight, const std::vector<double>& slack = {}) {
  return compare_floating(ElementType::f32, bytes_of(got).data(), expected, tolerance, slack);
}

}  // namespace

TEST_CASE("is_right: absolute and relative parts add up, on both sides") {
  CHECK(is_right(ElementType::f64, 100 + 1.0009, 100, tight));
  CHECK(!is_right(ElementType::f64, 100 + 1.0011, 100, tight));
  CHECK(is_right(ElementType::f64, -100 - 1.0009, -100, tight));
  CHECK(!is_right(ElementType::f64, -100 - 1.0011, -100, tight));
  CHECK(is_right(ElementType::f64, 0.001, 0, tight));
  CHECK(!is_right(ElementType::f64, 0.0011, 0, tight));
  CHECK(is_right(ElementType::f64, 5, 5, {0, 0}));
  CHECK(!is_right(ElementType::f64, std::nextafter(5.0, 6.0), 5, {0, 0}));
  // the relative part is of what is expected, not of what was got
  CHECK(!is_right(ElementType::f64, 1, 0.5, {0, 0.9}));
}

TEST_CASE("is_right: slack widens the bound") {
  CHECK(!is_right(ElementType::f64, 1.5, 1, tight));
  CHECK(is_right(ElementType::f64, 1.5, 1, tight, 0.49));
}

TEST_CASE("is_right: NaN is right only where NaN is expected") {
  CHECK(is_right(ElementType::f32, nan_value, nan_value, tight));
  CHECK(!is_right(ElementType::f32, nan_value, 0, tight));
  CHECK(!is_right(ElementType::f32, nan_value, infinite, tight));
  CHECK(!is_right(ElementType::f32, 0, nan_value, tight));
  CHECK(!is_right(ElementType::f32, infinite, nan_value, tight));
  CHECK(!is_right(ElementType::f32, nan_value, 0, {infinite, 0}));
}

TEST_CASE("is_right: infinities") {
  CHECK(is_right(ElementType::f32, infinite, infinite, tight));
  CHECK(!is_right(ElementType::f32, -infinite, infinite, tight));
  CHECK(!is_right(ElementType::f32, 3e38, infinite, tight));
  CHECK(!is_right(ElementType::f32, infinite, 1e30, tight));
  // what overflows the type rounds to infinity of the same sign
  CHECK(is_right(ElementType::f32, infinite, 1e39, tight));
  CHECK(!is_right(ElementType::f32, -infinite, 1e39, tight));
  CHECK(is_right(ElementType::f32, -infinite, -1e39, tight));
  CHECK(!is_right(ElementType::f64, infinite, 1e39, tight));
  CHECK(is_right(ElementType::f16, infinite, 66000, tight));
  CHECK(!is_right(ElementType::f16, infinite, 60000, {0, 1e-3}));
  CHECK(is_right(ElementType::f16, infinite, 65500,
                 {0, 1e-3}));  // the tolerance reaches past the largest value
}

TEST_CASE("compare_floating: counts, first mismatch, share of right elements") {
  const auto result = compare({1, 2, 9, 4, 9, 6}, {1, 2, 3, 4, 5, 6});
  CHECK(result.elements == 6);
  CHECK(result.wrong == 2);
  CHECK(!result.ok());
  CHECK(result.right_share() == approx(4.0 / 6));
  REQUIRE(result.first);
  CHECK(result.first->index == 2);
  CHECK(result.first->got == 9);
  CHECK(result.first->expected == 3);
  CHECK(result.first->allowed == approx(0.031));
  CHECK(compare({1, 2}, {1, 2}).ok());
  CHECK(compare({}, {}).ok());
  CHECK(compare({}, {}).right_share() == 1.0);
}

TEST_CASE("compare_floating: the last element counts as the first does") {
  CHECK(compare({0, 2, 3}, {1, 2, 3}).first->index == 0);
  CHECK(compare({1, 2, 0}, {1, 2, 3}).first->index == 2);
}

TEST_CASE("compare_floating: infinite slack exempts an element, whatever it holds") {
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  const auto result = compare({1, unwritten, 9}, {1, 2, 3}, tight, {0, infinite, 0});
  CHECK(result.exempt == 1);
  CHECK(result.wrong == 1);
  CHECK(result.first->index == 2);
  CHECK(result.right_share() == approx(0.5));
  CHECK(compare({unwritten}, {2}, tight, {infinite}).right_share() == 1.0);
}

TEST_CASE("compare_floating: half precision is read as such") {
  const std::vector<std::uint16_t> got{0x3c00, 0x4000};  // 1 and 2 in binary16
  CHECK(compare_floating(ElementType::f16, bytes_of(got).data(), std::vector<double>{1, 2}, {0, 0}).ok());
  const std::vector<std::uint16_t> brain{0x3f80, 0x4000};  // 1 and 2 in bfloat16
  CHECK(compare_floating(ElementType::bf16, bytes_of(brain).data(), std::vector<double>{1, 2}, {0, 0}).ok());
  CHECK(!compare_floating(ElementType::bf16, bytes_of(brain).data(), std::vector<double>{1, 1}, {0, 0}).ok());
}

TEST_CASE("compare_integers: every type, exact by default") {
  const auto differ_by_one = [](ElementType type, auto zero) {
    using T = decltype(zero);
    const auto expected =
        bytes_of(std::vector<T>{std::numeric_limits<T>::max(), 7, std::numeric_limits<T>::min()});
    const auto got =
        bytes_of(std::vector<T>{std::numeric_limits<T>::max() - 1, 7, std::numeric_limits<T>::min()});
    const auto result = compare_integers(type, got.data(), expected.data(), 3, {0, 0});
    CHECK(result.wrong == 1);
    CHECK(result.first->index == 0);
    CHECK(compare_integers(type, got.data(), got.data(), 3, {0, 0}).ok());
    CHECK(compare_integers(type, got.data(), expected.data(), 3, {1, 0}).ok());
  };
  differ_by_one(ElementType::i8, std::int8_t{});
  differ_by_one(ElementType::i16, std::int16_t{});
  differ_by_one(ElementType::i32, std::int32_t{});
  differ_by_one(ElementType::i64, std::int64_t{});  // doubles could not tell these apart
  differ_by_one(ElementType::u8, std::uint8_t{});
  differ_by_one(ElementType::u16, std::uint16_t{});
  differ_by_one(ElementType::u32, std::uint32_t{});
  differ_by_one(ElementType::u64, std::uint64_t{});
}

TEST_CASE("compare_integers: the widest difference does not wrap") {
  const auto low = bytes_of(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()});
  const auto high = bytes_of(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max()});
  CHECK(!compare_integers(ElementType::i64, low.data(), high.data(), 1, {1e18, 0}).ok());
  CHECK(!compare_integers(ElementType::i64, high.data(), low.data(), 1, {1e18, 0}).ok());
  const auto zero = bytes_of(std::vector<std::uint8_t>{0}), full = bytes_of(std::vector<std::uint8_t>{255});
  CHECK(!compare_integers(ElementType::u8, zero.data(), full.data(), 1, {1, 0}).ok());
}

TEST_CASE("compare_integers: a bool other than the expected 0 or 1 is wrong") {
  const std::array<std::byte, 2> expected{std::byte{1}, std::byte{0}}, odd{std::byte{2}, std::byte{0}};
  CHECK(compare_integers(ElementType::boolean, expected.data(), expected.data(), 2, {0, 0}).ok());
  CHECK(compare_integers(ElementType::boolean, odd.data(), expected.data(), 2, {0, 0}).wrong == 1);
}

TEST_CASE("is_right: small floats overflow to what conversions give that saturate, and f8e4m3 to NaN") {
  const Tolerance none{0, 0};
  CHECK(is_right(ElementType::f8e4m3, 448, 1000, none));
  CHECK(is_right(ElementType::f8e4m3, -448, -1000, none));
  CHECK(is_right(ElementType::f8e4m3, nan_value, 1000, none));
  CHECK(is_right(ElementType::f8e4m3, 448, infinite, none));
  CHECK(!is_right(ElementType::f8e4m3, -448, 1000, none));
  CHECK(!is_right(ElementType::f8e4m3, 416, 1000, none));
  CHECK(!is_right(ElementType::f8e4m3, nan_value, 400, none));
  CHECK(!is_right(ElementType::f8e4m3, 448, 400, none));
  CHECK(is_right(ElementType::f8e5m2, infinite, 70000, none));
  CHECK(is_right(ElementType::f8e5m2, 57344, 70000, none));
  CHECK(!is_right(ElementType::f8e5m2, nan_value, 70000, none));
  CHECK(is_right(ElementType::f4e2m1, 6, 100, none));
  CHECK(!is_right(ElementType::f4e2m1, 6, 4, none));
  CHECK(!is_right(ElementType::f32, 448, 1000, none));
}

TEST_CASE("is_right: infinities that are expected are right where the task allows them") {
  Tolerance tolerance{0, 0};
  tolerance.infinities = Infinities::negative;
  CHECK(is_right(ElementType::f32, -infinite, -infinite, tolerance));
  CHECK(!is_right(ElementType::f32, infinite, infinite, tolerance));
  tolerance.infinities = Infinities::none;
  CHECK(!is_right(ElementType::f32, -infinite, -infinite, tolerance));
  CHECK(!is_right(ElementType::f32, infinite, 1e39, tolerance));
  CHECK(is_right(ElementType::f32, 1, 1, tolerance));
}

TEST_CASE(
    "compare_floating: a matched ratio lets some elements be off, none beyond the cap, none NaN or "
    "infinite") {
  const auto with = [](float first, Tolerance tolerance, double slack = 0) {
    std::vector<float> got(100, 1.0f);
    got[7] = first;
    const std::vector<double> expected(100, 1.0), more(100, slack);
    return compare_floating(ElementType::f32, bytes_of(got).data(), expected, tolerance, more).ok(tolerance);
  };
  Tolerance tolerance{0.1, 0};
  CHECK(!with(1.5f, tolerance));
  tolerance.matched_ratio = 0.99;
  CHECK(with(1.5f, tolerance));
  CHECK(with(1e30f, tolerance));
  CHECK(!with(static_cast<float>(nan_value), tolerance));
  CHECK(!with(static_cast<float>(infinite), tolerance));
  tolerance.cap_absolute = 1;
  CHECK(with(2.0f, tolerance));
  CHECK(!with(2.1f, tolerance));
  CHECK(with(2.1f, tolerance, 0.2));
  tolerance.cap_relative = 0.5;
  CHECK(with(2.5f, tolerance));
  CHECK(!with(2.6f, tolerance));
  tolerance.cap_absolute.reset();
  CHECK(with(0.5f, tolerance));
  CHECK(!with(0.4f, tolerance));
  tolerance.matched_ratio = 0.995;  // of 100 elements none
  CHECK(!with(1.2f, tolerance));
}

TEST_CASE("Comparison: the elements beyond the cap are counted, and the first of them is told") {
  Tolerance tolerance{0, 0};
  tolerance.matched_ratio = 0.5;
  tolerance.cap_absolute = 1;
  const std::vector<float> got{0.5f, 3, 4, 0};
  const auto result =
      compare_floating(ElementType::f32, bytes_of(got).data(), std::vector<double>(4, 0.0), tolerance);
  CHECK(result.wrong == 3);
  CHECK(result.first->index == 0);
  CHECK(result.beyond == 2);
  CHECK(result.first_beyond->index == 1);
}

TEST_CASE("compare_floating: a cap relative to an infinity covers nothing") {
  Tolerance tolerance{0, 0};
  tolerance.matched_ratio = 0.5;
  tolerance.cap_relative = 0.5;
  const std::vector<float> got{1, 1};
  const auto with = [&](double first) {
    return compare_floating(ElementType::f32, bytes_of(got).data(), std::vector<double>{first, 1}, tolerance)
        .ok(tolerance);
  };
  CHECK(with(1.5));
  CHECK(!with(infinite));
}

TEST_CASE("compare_integers: ratio and cap") {
  const std::vector<std::int32_t> got{0, 0, 0, 9}, expected(4, 0);
  const auto ok = [&](const Tolerance& tolerance) {
    return compare_integers(ElementType::i32, bytes_of(got).data(), bytes_of(expected).data(), 4, tolerance)
        .ok(tolerance);
  };
  Tolerance tolerance;
  CHECK(!ok(tolerance));
  tolerance.matched_ratio = 0.75;
  CHECK(ok(tolerance));
  tolerance.cap_absolute = 8;
  CHECK(!ok(tolerance));
  tolerance.cap_absolute = 9;
  CHECK(ok(tolerance));
}

TEST_CASE("packed types compare element by element") {
  const std::vector<std::uint8_t> got{0x8f, 0x21}, expected{0x8f, 0x11};
  const auto integers =
      compare_integers(ElementType::i4, bytes_of(got).data(), bytes_of(expected).data(), 4, {});
  CHECK(integers.elements == 4);
  CHECK(integers.wrong == 1);
  CHECK(integers.first->index == 3);
  CHECK(integers.first->got == 2);
  CHECK(compare_integers(ElementType::u4, bytes_of(got).data(), bytes_of(expected).data(), 4, {1, 0}).ok());
  // 0x21: 0.5 and 1
  const auto floats = compare_floating(ElementType::f4e2m1, bytes_of(got).data(),
                                       std::vector<double>{-6, -0.0, 0.5, 2}, {0, 0});
  CHECK(floats.wrong == 1);
  CHECK(floats.first->index == 3);
  CHECK(floats.first->got == 1);
}
