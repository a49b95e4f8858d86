// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

Argument array(ElementType type, Initialisation initialisation, double low = -1.0, double high = 1.0) {
  Argument argument;
  argument.name = "a";
  argument.type = type;
  argument.is_array = true;
  argument.initialisation = initialisation;
  argument.low = low;
  argument.high = high;
  return argument;
}

std::vector<double> filled(const Argument& argument, std::size_t count, std::uint64_t seed = 1,
                           InputFlavour flavour = InputFlavour::declared) {
  const std::size_t step = size_in_bytes(argument.type);
  std::vector<std::byte> bytes(count * step);
  Rng rng(seed);
  fill_input(argument, count, flavour, rng, bytes.data());
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(load_element(argument.type, &bytes[i * step]));
  return values;
}

Shape shape(std::vector<NamedValue> variables) {
  return {"s", std::move(variables), 1.0};
}

constexpr InputFlavour flavours[] = {InputFlavour::declared, InputFlavour::edge,
                                     InputFlavour::ill_conditioned};

}  // namespace

TEST_CASE("fill_input: every type and flavour stays inside the declared range") {
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (type == ElementType::boolean) continue;
    for (const auto initialisation : {Initialisation::uniform, Initialisation::ill_conditioned}) {
      for (const InputFlavour flavour : flavours) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          const std::vector<double> values = filled(array(type, initialisation, 2, 11), 100, seed, flavour);
          CAPTURE(to_string(type));
          CHECK(*std::min_element(values.begin(), values.end()) >= 2.0);
          CHECK(*std::max_element(values.begin(), values.end()) < 11.0);
        }
      }
    }
  }
}

TEST_CASE("fill_input: uniform floats spread over the range, uniform integers take every value") {
  const std::vector<double> floats = filled(array(ElementType::f32, Initialisation::uniform, -3, 5), 20000);
  CHECK(std::accumulate(floats.begin(), floats.end(), 0.0) / 20000 == approx(1.0).epsilon(0.05).scale(1));
  CHECK(std::set<double>(floats.begin(), floats.end()).size() > 19000);
  const std::vector<double> integers = filled(array(ElementType::i8, Initialisation::uniform, -2, 3), 500);
  CHECK(std::set<double>(integers.begin(), integers.end()) == std::set<double>{-2, -1, 0, 1, 2});
  const std::vector<double> bits = filled(array(ElementType::boolean, Initialisation::uniform), 500);
  const double ones = std::accumulate(bits.begin(), bits.end(), 0.0);
  CHECK(ones > 180);
  CHECK(ones < 320);
}

TEST_CASE("fill_input: integer ranges are cut to the type") {
  const std::vector<double> values =
      filled(array(ElementType::u8, Initialisation::uniform, -1e9, 1e9), 20000);
  CHECK(std::set<double>(values.begin(), values.end()).size() == 256);
  CHECK_NOTHROW((void)filled(array(ElementType::i64, Initialisation::uniform, -1e30, 1e30), 100));
  CHECK_NOTHROW((void)filled(array(ElementType::u64, Initialisation::uniform, 0, 1e30), 100));
}

TEST_CASE("fill_input: zeros, ones, arange and permutation mean the same in every flavour") {
  for (const InputFlavour flavour : flavours) {
    for (int t = 0; t < element_type_count; ++t) {
      const auto type = static_cast<ElementType>(t);
      CHECK(filled(array(type, Initialisation::zeros), 3, 1, flavour) == std::vector<double>{0, 0, 0});
      CHECK(filled(array(type, Initialisation::ones), 3, 1, flavour) == std::vector<double>{1, 1, 1});
    }
    CHECK(filled(array(ElementType::f32, Initialisation::arange), 4, 1, flavour) ==
          std::vector<double>{0, 1, 2, 3});
    CHECK(filled(array(ElementType::boolean, Initialisation::arange), 3, 1, flavour) ==
          std::vector<double>{0, 1, 0});
    const std::vector<double> wrapped =
        filled(array(ElementType::f16, Initialisation::arange), 2051, 1, flavour);
    CHECK(wrapped[2048] == 2048.0);
    CHECK(wrapped[2049] == 0.0);
    std::vector<double> order = filled(array(ElementType::i32, Initialisation::permutation), 100, 1, flavour);
    CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == static_cast<double>(i));
  }
}

TEST_CASE("fill_input: normal has the mean and deviation asked for") {
  const std::vector<double> values = filled(array(ElementType::f64, Initialisation::normal, 3, 2), 50000);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 50000;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / 50000;
  CHECK(mean == approx(3.0).epsilon(0.02).scale(1));
  CHECK(std::sqrt(variance) == approx(2.0).epsilon(0.02).scale(1));
}

TEST_CASE("fill_input: ill-conditioned values span many decades with both signs and cancel") {
  for (const auto type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    CAPTURE(to_string(type));
    const std::vector<double> values =
        filled(array(type, Initialisation::uniform), 4000, 3, InputFlavour::ill_conditioned);
    double smallest = 1.0;
    double largest = 0.0;
    int negative = 0;
    std::map<double, int> seen;
    for (const double value : values) {
      smallest = std::min(smallest, std::abs(value));
      largest = std::max(largest, std::abs(value));
      negative += value < 0;
      ++seen[value];
    }
    CHECK(largest > 0.5);
    CHECK(smallest > 0.0);
    CHECK(largest / smallest > 5e3);
    CHECK(negative > 1500);
    CHECK(negative < 2500);
    int cancelling = 0;
    for (const auto& [value, count] : seen) cancelling += seen.count(-value) != 0 ? count : 0;
    CHECK(cancelling > 1500);
  }
}

TEST_CASE("fill_input: edge values reach both ends of the range and constant arrays") {
  bool constant = false;
  bool low = false;
  bool high = false;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<double> values =
        filled(array(ElementType::f32, Initialisation::uniform, 0, 1), 64, seed, InputFlavour::edge);
    const std::set<double> distinct(values.begin(), values.end());
    constant = constant || distinct.size() == 1;
    low = low || distinct.count(0.0) != 0;
    high = high || distinct.count(greatest_below(ElementType::f32, 1.0)) != 0;
  }
  CHECK(constant);
  CHECK(low);
  CHECK(high);
}

TEST_CASE("fill_input: edge values also come as a stretch of equal ones within others") {
  int stretches = 0, constant = 0, at_an_end = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto values =
        filled(array(ElementType::f32, Initialisation::uniform, -2, 2), 200, seed, InputFlavour::edge);
    const std::set<double> distinct(values.begin(), values.end());
    int run = 1, longest = 1;
    for (std::size_t i = 1; i < values.size(); ++i) {
      run = values[i] == values[i - 1] ? run + 1 : 1;
      longest = std::max(longest, run);
    }
    stretches += longest >= 10 && distinct.size() > 2;
    constant += distinct.size() == 1;
    at_an_end += distinct.size() == 1 && std::abs(values[0]) > 1.9;
  }
  CHECK(stretches >= 100);
  CHECK(constant >= 40);
  CHECK(2 * at_an_end >= constant);
}

TEST_CASE("fill_input: the same seed draws the same, a longer array begins like a shorter one") {
  for (const auto initialisation : {Initialisation::uniform, Initialisation::normal}) {
    const Argument argument = array(ElementType::f32, initialisation);
    std::vector<double> longer = filled(argument, 100, 9);
    longer.resize(50);
    CHECK(longer == filled(argument, 50, 9));
    CHECK(longer != filled(argument, 50, 10));
  }
}

TEST_CASE("fill_input: ranges and permutations that cannot be are refused") {
  CHECK_THROWS_WITH_AS((void)filled(array(ElementType::i32, Initialisation::uniform, 0.2, 0.8), 1),
                       doctest::Contains("no i32 is in [0.2, 0.8)"), ConfigError);
  CHECK_THROWS_AS((void)filled(array(ElementType::u8, Initialisation::uniform, -5, 0), 1), ConfigError);
  CHECK_THROWS_AS((void)filled(array(ElementType::f32, Initialisation::uniform, 1, 1), 1), ConfigError);
  CHECK_THROWS_AS((void)filled(array(ElementType::f32, Initialisation::uniform, 0, 1e300), 1), ConfigError);
  CHECK_THROWS_WITH_AS((void)filled(array(ElementType::u8, Initialisation::permutation), 257),
                       doctest::Contains("wider type"), ConfigError);
  CHECK_NOTHROW((void)filled(array(ElementType::u8, Initialisation::permutation), 256));
}

TEST_CASE("element_count: evaluates over the shape, then the tunables") {
  Argument argument = array(ElementType::f32, Initialisation::uniform);
  argument.size = Expression::parse("n * (m + PAD)");
  const Shape s = shape({{"n", std::int64_t{6}}, {"m", std::int64_t{7}}});
  const std::vector<NamedValue> tunables{{"PAD", std::int64_t{1}}};
  CHECK(element_count(argument, s, tunables) == 48);
  CHECK_THROWS_WITH_AS((void)element_count(argument, s), doctest::Contains("PAD"), ConfigError);
  argument.size = Expression::parse("n * m / 2");
  CHECK(element_count(argument, s) == 21);
  argument.is_array = false;
  CHECK(element_count(argument, s) == 1);
}

TEST_CASE("bytes_of_arrays: those of all arrays and of no scalar") {
  Argument wide = array(ElementType::f64, Initialisation::uniform);
  wide.size = Expression::parse("n * PAD");
  Argument narrow = array(ElementType::u8, Initialisation::uniform), scalar = narrow;
  narrow.size = Expression::parse("n + 1");
  scalar.is_array = false;
  const Shape s = shape({{"n", std::int64_t{6}}});
  const std::vector<NamedValue> tunables{{"PAD", std::int64_t{2}}};
  CHECK(bytes_of_arrays(std::vector{wide, narrow, scalar}, s, tunables) == 6 * 2 * 8 + 7);
  CHECK(bytes_of_arrays({}, s) == 0);
  CHECK_THROWS_WITH_AS((void)bytes_of_arrays(std::vector{narrow, wide}, s), doctest::Contains("PAD"),
                       ConfigError);
}

TEST_CASE("element_count: sizes that cannot be are refused with the reason") {
  Argument argument = array(ElementType::f64, Initialisation::uniform);
  const Shape s = shape({{"n", std::int64_t{5}}, {"name", std::string("x")}});
  const auto message = [&](const char* size) {
    argument.size = Expression::parse(size);
    try {
      (void)element_count(argument, s);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(message("n / 2").find("whole number") != std::string::npos);
  CHECK(message("n - 6").find("negative") != std::string::npos);
  CHECK(message("n * 2**40").find("2^40 bytes") != std::string::npos);
  CHECK(message("2**37").find("accepted") != std::string::npos);
  CHECK(message("name").find("whole number") != std::string::npos);
  CHECK(message("m").find("m in m") != std::string::npos);
}

TEST_CASE("scalar_value: the variable of its name or its own expression, in the type's kind") {
  const Shape s = shape({{"n", std::int64_t{5}}, {"alpha", 0.5}, {"flag", true}, {"big", std::int64_t{300}}});
  Argument argument;
  argument.name = "n";
  argument.type = ElementType::i32;
  CHECK(scalar_value(argument, s) == Value{std::int64_t{5}});
  argument.type = ElementType::f32;
  CHECK(scalar_value(argument, s) == Value{5.0});
  argument.value = Expression::parse("n * 2 + 1");
  argument.type = ElementType::u8;
  CHECK(scalar_value(argument, s) == Value{std::int64_t{11}});
  argument.value.reset();
  argument.name = "flag";
  argument.type = ElementType::boolean;
  CHECK(scalar_value(argument, s) == Value{true});
  argument.name = "big";
  argument.type = ElementType::i8;
  CHECK_THROWS_WITH_AS((void)scalar_value(argument, s), doctest::Contains("-128 to 127"), ConfigError);
  argument.name = "alpha";
  CHECK_THROWS_WITH_AS((void)scalar_value(argument, s), doctest::Contains("whole number"), ConfigError);
  argument.name = "beta";
  CHECK_THROWS_WITH_AS((void)scalar_value(argument, s), doctest::Contains("variable of that name"),
                       ConfigError);
}

TEST_CASE("scalar_value: the ends of the integer types fit, one beyond does not") {
  const auto fits = [](ElementType type, std::int64_t value) {
    Argument argument;
    argument.name = "n";
    argument.type = type;
    try {
      return scalar_value(argument, shape({{"n", value}})) == Value{value};
    } catch (const ConfigError&) {
      return false;
    }
  };
  CHECK(fits(ElementType::i64, std::numeric_limits<std::int64_t>::min()));
  CHECK(fits(ElementType::i64, std::numeric_limits<std::int64_t>::max()));
  CHECK(fits(ElementType::i32, -2147483648LL));
  CHECK_FALSE(fits(ElementType::i32, -2147483649LL));
  CHECK(fits(ElementType::u32, 4294967295LL));
  CHECK_FALSE(fits(ElementType::u32, 4294967296LL));
  CHECK(fits(ElementType::u64, 0));
  CHECK_FALSE(fits(ElementType::u64, -1));
}

TEST_CASE("fill_input: sorted is ascending in every type and flavour, and spreads over the range") {
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    const Argument argument = type == ElementType::boolean ? array(type, Initialisation::sorted, 0, 2)
                                                           : array(type, Initialisation::sorted, 2, 90);
    for (const InputFlavour flavour : flavours)
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        CAPTURE(to_string(type));
        const std::vector<double> values = filled(argument, 500, seed, flavour);
        CHECK(std::is_sorted(values.begin(), values.end()));
        CHECK(values.front() >= argument.low);
        CHECK(values.back() < argument.high);
      }
    const std::vector<double> declared = filled(argument, 500);
    CHECK(declared.front() != declared.back());
  }
}

TEST_CASE("fill_input: offsets begin with 0, end with the total and never descend") {
  Argument argument = array(ElementType::i32, Initialisation::offsets);
  for (const double skew : {0.0, 0.7, 2.0})
    for (const std::int64_t total : {0, 7, 10000}) {
      argument.skew = skew;
      argument.total = Expression::parse(std::to_string(total));
      for (const InputFlavour flavour : flavours)
        for (std::uint64_t seed = 0; seed < 12; ++seed) {
          const std::vector<double> offsets = filled(argument, 101, seed, flavour);
          CHECK(offsets.front() == 0);
          CHECK(offsets.back() == static_cast<double>(total));
          CHECK(std::is_sorted(offsets.begin(), offsets.end()));
        }
    }
  const auto longest = [&](double skew, InputFlavour flavour) {
    argument.skew = skew;
    const std::vector<double> offsets = filled(argument, 101, 3, flavour);
    double most = 0;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) most = std::max(most, offsets[i + 1] - offsets[i]);
    return most;
  };
  CHECK(longest(0.0, InputFlavour::declared) == 100);
  CHECK(longest(1.0, InputFlavour::declared) > 1000);
  CHECK(longest(2.0, InputFlavour::declared) > longest(1.0, InputFlavour::declared));
  CHECK(longest(0.0, InputFlavour::edge) >= 150);  // all in one row, or every other row empty
}

TEST_CASE("fill_input: offsets that cannot be are refused") {
  Argument argument = array(ElementType::i8, Initialisation::offsets);
  argument.total = Expression::parse("1000");
  CHECK_THROWS_WITH_AS((void)filled(argument, 10), doctest::Contains("use a wider type"), ConfigError);
  argument.type = ElementType::i32;
  CHECK_THROWS_WITH_AS((void)filled(argument, 1), doctest::Contains("the size is n + 1"), ConfigError);
  argument.total = Expression::parse("0");
  CHECK(filled(argument, 1) == std::vector<double>{0});
}

TEST_CASE("fill_input: declared edge values are the only ones, an empty list leaves inputs as declared") {
  Argument argument = array(ElementType::i32, Initialisation::uniform, 0, 1000);
  argument.edge = std::vector<double>{3, 500};
  for (std::uint64_t seed = 0; seed < 16; ++seed)
    for (const double value : filled(argument, 50, seed, InputFlavour::edge))
      CHECK((value == 3 || value == 500));
  argument.edge = std::vector<double>{7};
  CHECK(filled(argument, 3, 1, InputFlavour::edge) == std::vector<double>{7, 7, 7});
  argument.edge->clear();
  CHECK(filled(argument, 50, 1, InputFlavour::edge) == filled(argument, 50, 1));
}

TEST_CASE("at_shape: the range follows the shape") {
  Argument argument = array(ElementType::i32, Initialisation::uniform);
  argument.low = 0;
  argument.high_expression = Expression::parse("n");
  const Argument made = at_shape(argument, shape({{"n", Value{std::int64_t{5}}}}));
  CHECK(made.high == 5);
  CHECK_FALSE(made.high_expression);
  const std::vector<double> values = filled(made, 200);
  CHECK(*std::max_element(values.begin(), values.end()) == 4);
  CHECK_THROWS_WITH_AS((void)at_shape(argument, shape({{"n", Value{std::int64_t{0}}}})),
                       doctest::Contains("empty range for shape s"), ConfigError);
  Shape generated = shape({});
  generated.generated = {{"n", Value{std::int64_t{9}}}};
  CHECK(at_shape(argument, generated).high == 9);
  argument.high_expression = Expression::parse("1/n");
  CHECK_THROWS_AS((void)at_shape(argument, shape({{"n", Value{std::int64_t{0}}}})), Error);
}

TEST_CASE("fill_input: structs field by field, in their ranges, with empty padding") {
  Argument argument = array(ElementType::u8, Initialisation::uniform);
  argument.structure = StructType{"P", {{"tag", ElementType::u8, 1, 3}, {"x", ElementType::f64, 5, 6}}};
  CHECK(argument.element_bytes() == 16);
  std::vector<std::byte> bytes(100 * 16, std::byte{0xee});
  for (const InputFlavour flavour : flavours) {
    Rng rng(4);
    fill_input(argument, 100, flavour, rng, bytes.data());
    for (std::size_t i = 0; i < 100; ++i) {
      const double tag = load_element(ElementType::u8, &bytes[16 * i]);
      const double x = load_element(ElementType::f64, &bytes[16 * i + 8]);
      CHECK((tag == 1 || tag == 2));
      CHECK((x >= 5 && x < 6));
      for (std::size_t k = 1; k < 8; ++k) CHECK(bytes[16 * i + k] == std::byte{0});
    }
  }
}

TEST_CASE("fill_input: what only a generator fills is refused") {
  CHECK_THROWS_WITH_AS((void)filled(array(ElementType::f32, Initialisation::generator), 3),
                       doctest::Contains("filled by the problem's generator"), ConfigError);
}
