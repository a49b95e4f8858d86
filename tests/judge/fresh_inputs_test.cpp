// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/fresh_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "evaluator/host/support.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;
using kernelsearch::test::approx;

namespace {

/// A problem whose inputs are declared as given, of n elements.
Problem with_inputs(const std::string& inputs, int n = 4096) {
  return parse_problem(
      R"({"schema": 1, "name": "p", "backend": "host", "function": "f", "arguments": [)" + inputs +
          R"(, {"name": "y", "type": "f32", "size": "n", "role": "out"}, {"name": "n", "type": "i32"}],
        "kernel": {"device": {"text": "void f() {}"}}, "shapes": [{"name": "s", "n": )" +
          std::to_string(n) + "}]}",
      support::sources);
}

template <class T>
std::vector<T> drawn(const Problem& problem, std::uint64_t pool, std::uint64_t seed,
                     std::size_t argument = 0) {
  const ShapePlan plan = plan_shape(problem, problem.default_candidate(), 0);
  const FreshInputs fresh(problem, plan, pool);
  REQUIRE(fresh.draws(argument));
  std::vector<T> values(plan.arguments[argument].count);
  fresh.draw(argument, values.size(), seed, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

}  // namespace

TEST_CASE("FreshInputs: each seed another array, of values as declared and not of a few") {
  const Problem problem =
      with_inputs(R"({"name": "x", "type": "f32", "size": "n", "low": -2, "high": 6, "exact": "a test"})");
  const auto one = drawn<float>(problem, 1, 2), again = drawn<float>(problem, 1, 2),
             other = drawn<float>(problem, 1, 3);
  CHECK(one == again);
  CHECK(one != other);
  CHECK(*std::min_element(one.begin(), one.end()) >= -2);
  CHECK(*std::max_element(one.begin(), one.end()) < 6);
  double mean = 0, square = 0;
  for (const float value : one) mean += value / 4096.0;
  for (const float value : one) square += (value - mean) * (value - mean) / 4096.0;
  CHECK(mean == approx(2).epsilon(0.15).scale(1));
  CHECK(square == approx(64.0 / 12).epsilon(0.1).scale(1));
  // A table of values met before is of no use.
  const std::set<float> met(one.begin(), one.end());
  CHECK(std::count_if(other.begin(), other.end(), [&](float value) { return met.contains(value); }) < 40);
}

TEST_CASE("FreshInputs: a normal distribution stays one, integers reach every value") {
  const auto normal = drawn<double>(
      with_inputs(
          R"({"name": "x", "type": "f64", "size": "n", "init": "normal", "mean": 1, "deviation": 2, "exact": "a test"})"),
      1, 2);
  double mean = 0, square = 0;
  for (const double value : normal) mean += value / 4096;
  for (const double value : normal) square += (value - mean) * (value - mean) / 4096;
  CHECK(mean == approx(1).epsilon(0.15).scale(1));
  CHECK(std::sqrt(square) == approx(2).epsilon(0.06).scale(1));
  const auto few = drawn<std::int32_t>(
      with_inputs(R"({"name": "x", "type": "i32", "size": "n", "low": 3, "high": 7, "exact": "a test"})"), 1,
      2);
  CHECK(std::set<std::int32_t>(few.begin(), few.end()) == std::set<std::int32_t>{3, 4, 5, 6});
  const auto many = drawn<std::uint64_t>(
      with_inputs(R"({"name": "x", "type": "u64", "size": "n", "low": 0, "high": 1e15, "exact": "a test"})"),
      1, 2);
  CHECK(std::set<std::uint64_t>(many.begin(), many.end()).size() == 4096);
}

TEST_CASE("FreshInputs: permutations are drawn anew, what is given stays") {
  const Problem problem = with_inputs(
      R"({"name": "p", "type": "i32", "size": "n", "init": "permutation"},
         {"name": "z", "type": "f32", "size": "n", "init": "zeros"})");
  auto one = drawn<std::int32_t>(problem, 1, 2), other = drawn<std::int32_t>(problem, 1, 3);
  CHECK(one != other);
  std::sort(one.begin(), one.end());
  for (std::int32_t i = 0; i < 4096; ++i) REQUIRE(one[static_cast<std::size_t>(i)] == i);
  const FreshInputs fresh(problem, plan_shape(problem, problem.default_candidate(), 0), 1);
  CHECK(!fresh.draws(1));
  CHECK(fresh.others() == std::vector<bool>{false, true, false, false});
}

TEST_CASE("FreshInputs: of a million single-precision elements few were met in the million before") {
  const Problem problem = with_inputs(
      R"({"name": "x", "type": "f32", "size": "n", "low": -1, "high": 1, "exact": "a test"})", 1 << 20);
  auto one = drawn<float>(problem, 1, 2);
  const auto other = drawn<float>(problem, 1, 3);
  std::sort(one.begin(), one.end());
  const auto met = std::count_if(other.begin(), other.end(), [&](float value) {
    return std::binary_search(one.begin(), one.end(), value);
  });
  CHECK(met < (1 << 20) / 20);  // 2 % where small values have all their bits, 12 % with 23 bits each
}

TEST_CASE("FreshInputs: double-precision elements fill their range evenly, an enormous one too") {
  const auto even = drawn<double>(
      with_inputs(R"({"name": "x", "type": "f64", "size": "n", "low": 10, "high": 12, "exact": "a test"})",
                  65537),
      1, 2);
  int quarters[4] = {};
  for (const double value : even) {
    REQUIRE(value >= 10);
    REQUIRE(value < 12);
    ++quarters[static_cast<int>((value - 10) * 2)];
  }
  for (const int quarter : quarters) CHECK(quarter == approx(65537 / 4).epsilon(0.05).scale(1));
  const auto wide = drawn<float>(
      with_inputs(
          R"({"name": "x", "type": "f32", "size": "n", "low": -3e38, "high": 3e38, "exact": "a test"})"),
      1, 2);
  CHECK(std::all_of(wide.begin(), wide.end(), [](float value) { return std::isfinite(value); }));
  CHECK(*std::min_element(wide.begin(), wide.end()) < -2e38f);
  CHECK(*std::max_element(wide.begin(), wide.end()) > 2e38f);
}

TEST_CASE("FreshInputs: a long permutation is another one each time, and not the same one turned") {
  constexpr int n = 70001;
  for (const char* type : {"i32", "u64"}) {
    CAPTURE(type);
    const Problem problem = with_inputs(
        std::string(R"({"name": "p", "type": ")") + type + R"(", "size": "n", "init": "permutation"})", n);
    const auto values = [&](std::uint64_t seed) {
      if (type[0] == 'u') return drawn<std::uint64_t>(problem, 1, seed);
      const auto narrow = drawn<std::int32_t>(problem, 1, seed);
      return std::vector<std::uint64_t>(narrow.begin(), narrow.end());
    };
    auto one = values(2);
    const auto other = values(3);
    const auto first =
        static_cast<std::size_t>(std::find(other.begin(), other.end(), one.front()) - other.begin());
    int in_turn = 0, following = 0;
    for (std::size_t i = 0; i < n; ++i) {
      in_turn += other[(first + i) % n] == one[i] ? 1 : 0;
      following += i > 0 && one[i] == one[i - 1] + 1 ? 1 : 0;
    }
    CHECK(in_turn < 20);
    CHECK(following < 20);
    std::sort(one.begin(), one.end());
    for (std::size_t i = 0; i < n; ++i) REQUIRE(one[i] == i);
  }
}

TEST_CASE("FreshInputs: sorted arrays are drawn anew, long ones too") {
  for (const int n : {1000, 100000}) {
    CAPTURE(n);
    const auto real = with_inputs(
        R"({"name": "x", "type": "f32", "size": "n", "init": "sorted", "low": 2, "high": 4, "exact": "a test"})",
        n);
    const auto one = drawn<float>(real, 1, 2), other = drawn<float>(real, 1, 3);
    CHECK(std::is_sorted(one.begin(), one.end()));
    CHECK(one.front() >= 2);
    CHECK(one.back() <= 4);
    double mean = 0;
    for (const float value : one) mean += double{value} / n;
    CHECK(mean == approx(3).epsilon(0.03).scale(1));
    int same = 0;
    for (std::size_t i = 0; i < one.size(); ++i) same += one[i] == other[i] ? 1 : 0;
    CHECK(same < n / 50);
    const auto whole = with_inputs(
        R"({"name": "x", "type": "i64", "size": "n", "init": "sorted", "low": -3, "high": 9e15})", n);
    const auto ints = drawn<std::int64_t>(whole, 1, 2);
    CHECK(std::is_sorted(ints.begin(), ints.end()));
    CHECK(ints.front() >= -3);
    CHECK(std::set<std::int64_t>(ints.begin(), ints.end()).size() > static_cast<std::size_t>(n) * 9 / 10);
  }
  const Problem bytes = with_inputs(
      R"({"name": "x", "type": "u8", "size": "n", "init": "sorted"}, {"name": "p", "type": "f32", "size": "n", "init": "permutation"})",
      100000);
  const FreshInputs fresh(bytes, plan_shape(bytes, bytes.default_candidate(), 0), 1);
  CHECK(!fresh.draws(0));
  CHECK(!fresh.draws(1));
}

namespace {

struct Moments {
  double mean = 0, deviation = 0, least = 0, greatest = 0, zeros = 0;
};

template <class T>
Moments moments(const std::vector<T>& values) {
  Moments result{0, 0, 1e300, -1e300, 0};
  const double share = 1.0 / static_cast<double>(values.size());
  for (const T value : values) {
    const auto number = static_cast<double>(value);
    result.mean += number * share;
    result.least = std::min(result.least, number);
    result.greatest = std::max(result.greatest, number);
    result.zeros += number == 0 ? share : 0;
  }
  for (const T value : values)
    result.deviation +=
        (static_cast<double>(value) - result.mean) * (static_cast<double>(value) - result.mean) * share;
  result.deviation = std::sqrt(result.deviation);
  return result;
}

/// How much what `of` says of 64 draws differs, the least taken from the most.
template <class T>
double spread(const Problem& problem, double Moments::*of) {
  double least = 1e300, most = -1e300;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const double value = moments(drawn<T>(problem, 1, seed)).*of;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return most - least;
}

Problem drawn_as(const std::string& how, int n = 20000) {
  return with_inputs(R"({"name": "x", "size": "n", )" + how + "}", n);
}

}  // namespace

TEST_CASE("FreshInputs: no mean, variance, maximum or share of one draw is that of another") {
  const Problem f32 = drawn_as(R"("type": "f32", "low": -1, "high": 1)"),
                f64 = drawn_as(R"("type": "f64", "low": -1, "high": 1)"),
                normal = drawn_as(R"("type": "f32", "init": "normal")"),
                i32 = drawn_as(R"("type": "i32", "low": -100, "high": 100)"),
                coin = drawn_as(R"("type": "bool")");
  for (double Moments::*of : {&Moments::mean, &Moments::deviation, &Moments::greatest}) {
    CHECK(spread<float>(f32, of) > 0.3);
    CHECK(spread<double>(f64, of) > 0.3);
    CHECK(spread<float>(normal, of) > 0.3);
    CHECK(spread<std::int32_t>(i32, of) > 30);
  }
  CHECK(spread<std::uint8_t>(coin, &Moments::mean) > 0.5);
  CHECK(spread<float>(f32, &Moments::zeros) > 0.3);
  CHECK(spread<std::int32_t>(i32, &Moments::zeros) > 0.3);
  const Problem bf16 = drawn_as(R"("type": "bf16", "low": 0, "high": 1)");
  double least = 1, most = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    double sum = 0;
    for (const std::uint16_t value : drawn<std::uint16_t>(bf16, 1, seed))
      sum += double_from_bf16(value) / 20000;
    least = std::min(least, sum);
    most = std::max(most, sum);
  }
  CHECK(most - least > 0.2);
}

TEST_CASE(
    "FreshInputs: every draw stays in its range, has zeros only where they may be, and is as wide as half of "
    "it") {
  const Problem positive = drawn_as(R"("type": "f32", "low": 1, "high": 3)"),
                integers = drawn_as(R"("type": "u32", "low": 5, "high": 9)"),
                skewed = drawn_as(R"("type": "f64", "low": -1, "high": 7)"),
                sorted = drawn_as(R"("type": "f32", "init": "sorted", "low": 2, "high": 4)", 100000),
                far = drawn_as(R"("type": "f32", "init": "normal", "mean": 9, "deviation": 1)");
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    CAPTURE(seed);
    const Moments a = moments(drawn<float>(positive, 1, seed)),
                  b = moments(drawn<std::uint32_t>(integers, 1, seed)),
                  c = moments(drawn<double>(skewed, 1, seed)), e = moments(drawn<float>(far, 1, seed));
    CHECK(a.least >= 1);
    CHECK(a.greatest <= 3);
    CHECK(a.greatest - a.least > 0.4);
    CHECK(b.least >= 5);
    CHECK(b.greatest <= 8);
    CHECK(c.least >= -1);
    CHECK(c.greatest <= 7);
    CHECK(e.zeros == 0);
    const auto ascending = drawn<float>(sorted, 1, seed);
    CHECK(std::is_sorted(ascending.begin(), ascending.end()));
    CHECK(ascending.front() >= 2);
    CHECK(ascending.back() <= 4);
  }
  CHECK(spread<float>(sorted, &Moments::mean) > 0.2);
}

TEST_CASE("FreshInputs: what is exact is drawn as declared each time") {
  const Problem exact = drawn_as(R"("type": "f32", "low": -1, "high": 1, "exact": "a test")");
  CHECK(spread<float>(exact, &Moments::mean) < 0.05);
  CHECK(spread<float>(exact, &Moments::greatest) < 0.01);
  CHECK(spread<float>(exact, &Moments::zeros) == 0);
}

TEST_CASE("FreshInputs: fields of structs are parts of their ranges in some of the elements") {
  const Problem problem = parse_problem(
      R"({"schema": 1, "name": "p", "function": "f", "arguments": [{"name": "x", "size": "n", "type":
        {"struct": "P", "fields": [{"name": "a", "type": "f32", "low": -1, "high": 1}, {"name": "b", "type": "i32", "low": 3, "high": 9}]}},
        {"name": "y", "type": "f32", "size": "n", "role": "out"}, {"name": "n", "type": "i32"}],
        "kernel": {"device": {"text": "void f() {}"}}, "shapes": [{"name": "s", "n": 20000}]})",
      support::sources);
  struct Element {
    float a;
    std::int32_t b;
  };
  double least = 1, most = -1;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    double mean = 0;
    for (const Element& one : drawn<Element>(problem, 1, seed)) {
      REQUIRE(std::abs(one.a) <= 1);
      REQUIRE(one.b >= 3);
      REQUIRE(one.b < 9);
      mean += std::abs(one.a) / 20000;
    }
    least = std::min(least, mean);
    most = std::max(most, mean);
  }
  CHECK(most - least > 0.02);
}

TEST_CASE("FreshInputs: small types hold values of the range, many of them, and two in a byte lie apart") {
  const struct {
    const char* type;
    const char* range;
    double low, high;  // inclusive
    std::size_t least;
  } cases[] = {{"f8e4m3", R"("low": -2, "high": 6)", -2, 5.5, 60},
               {"f8e5m2", R"("init": "normal")", -8, 8, 60},
               {"f4e2m1", R"("low": -3, "high": 4)", -3, 3, 11},
               {"i4", R"("low": -5, "high": 6)", -5, 5, 11},
               {"u4", R"("init": "normal", "mean": 7, "deviation": 2)", 0, 15, 9}};
  for (const auto& one : cases) {
    CAPTURE(one.type);
    const Problem problem = with_inputs(R"({"name": "x", "type": ")" + std::string(one.type) +
                                        R"(", "size": "n", )" + one.range + "}");
    std::set<double> low, high;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto bytes = drawn<std::byte>(problem, 1, seed);
      const ElementType type = problem.arguments[0].type;
      CHECK(bytes.size() == (is_packed(type) ? 2048 : 4096));
      CHECK(bytes != drawn<std::byte>(problem, 1, seed + 100));
      for (std::size_t i = 0; i < bytes.size() * stored_together(type); ++i)
        (i % 2 == 0 ? low : high).insert(load_element(type, bytes.data(), i));
    }
    for (const auto& met : {low, high}) {
      CHECK(met.size() >= one.least);
      CHECK(*met.begin() >= one.low);
      CHECK(*met.rbegin() <= one.high);
    }
  }
}

TEST_CASE("FreshInputs: c64 has parts in the range") {
  const Problem problem = with_inputs(
      R"({"name": "x", "type": "c64", "size": "n", "low": 2, "high": 3, "exact": "a test"})", 512);
  const auto parts = drawn<float>(problem, 1, 2);
  CHECK(parts.size() == 1024);
  CHECK(*std::min_element(parts.begin(), parts.end()) >= 2);
  CHECK(*std::max_element(parts.begin(), parts.end()) < 3);
}

namespace {

/// How far each float / (code * scale) is from 1, at most, over all contents of one call.
struct QuantisedCall {
  std::vector<double> codes, scales, floats;
};

QuantisedCall quantised_call(const Problem& problem, const Contents& contents) {
  QuantisedCall call;
  const auto values = [&](std::size_t a) {
    std::vector<double> all(contents.at(a).size() / size_in_bytes(problem.arguments[a].type) *
                            stored_together(problem.arguments[a].type));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = load_element(problem.arguments[a].type, contents[a].data(), i);
    return all;
  };
  call.codes = values(0);
  call.scales = values(1);
  if (problem.arguments[2].is_input()) call.floats = values(2);
  return call;
}

}  // namespace

TEST_CASE("FreshInputs: quantised arrays and their scales are drawn anew together, from one draw of floats") {
  const std::string inputs = R"({"name": "q", "type": "i4", "size": "n", "quantised":
      {"scale": "s", "of": "x", "columns": 64, "block": [2, 32]}},
    {"name": "s", "type": "f32", "size": "n // 64"}, {"name": "x", "type": "f32", "size": "n", "low": -3, "high": 5})";
  const Problem problem = with_inputs(inputs, 1024);
  const ShapePlan plan = plan_shape(problem, problem.default_candidate(), 0);
  const FreshInputs fresh(problem, plan, 1);
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(fresh.generates(a));
    CHECK_FALSE(fresh.draws(a));
    CHECK_FALSE(fresh.others()[a]);
  }
  const Contents one = fresh.generated(5);
  CHECK(one[0] == fresh.generated(5)[0]);
  CHECK(one[0] != fresh.generated(6)[0]);
  CHECK(one[1] != fresh.generated(6)[1]);
  const QuantisedCall call = quantised_call(problem, one);
  REQUIRE(call.codes.size() == 1024);
  REQUIRE(call.scales.size() == 16);
  std::set<double> scales(call.scales.begin(), call.scales.end());
  CHECK(scales.size() > 8);
  for (std::size_t i = 0; i < 1024; ++i) {
    const double scale = call.scales[i / 128 * 2 + i % 64 / 32];
    CHECK(std::abs(call.floats[i] - call.codes[i] * scale) <= scale * 0.5001);
  }
  CHECK(fresh.calls_filled_in(0) == 1);
}

TEST_CASE("InputGenerator: quantised inputs of checks, also edge ones, belong together") {
  const std::string inputs = R"({"name": "q", "type": "f8e4m3", "size": "n", "low": -1000, "high": 1000,
      "quantised": {"scale": "s"}}, {"name": "s", "type": "f32", "size": "1"})";
  const Problem problem = with_inputs(inputs, 256);
  const ShapePlan plan = plan_shape(problem, problem.default_candidate(), 0);
  InputGenerator generator(problem, support::quick());
  for (const InputFlavour flavour :
       {InputFlavour::declared, InputFlavour::edge, InputFlavour::ill_conditioned}) {
    const Contents contents = generator.contents(plan, flavour, 3);
    const QuantisedCall call = quantised_call(problem, contents);
    REQUIRE(call.codes.size() == 256);
    REQUIRE(call.scales.size() == 1);
    double most = 0;
    for (const double code : call.codes) most = std::max(most, std::abs(code));
    CHECK(most == 448);
    CHECK(call.scales[0] <= 1000.0 / 448);
    CHECK(call.scales[0] > 0);
  }
}

TEST_CASE("without_signs: of small floats, and of integers only where they stand for floats") {
  Argument argument;
  argument.type = ElementType::f4e2m1;
  const std::vector<std::byte> bytes{std::byte{0xf9}, std::byte{0x28}};
  CHECK(without_signs(argument, bytes) == std::vector<std::byte>{std::byte{0x71}, std::byte{0x20}});
  argument.type = ElementType::f8e5m2;
  CHECK(without_signs(argument, bytes) == std::vector<std::byte>{std::byte{0x79}, std::byte{0x28}});
  argument.type = ElementType::i4;
  CHECK(without_signs(argument, bytes) == bytes);
  argument.quantised.emplace();
  CHECK(without_signs(argument, bytes) == std::vector<std::byte>{std::byte{0x17}, std::byte{0x27}});
  argument.type = ElementType::i8;
  CHECK(without_signs(argument, bytes) == std::vector<std::byte>{std::byte{0x07}, std::byte{0x28}});
}
