// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;
using kernelsearch::test::approx;

namespace {

struct Rounded {
  std::uint32_t given;  ///< bits of an f32
  int pattern;
};

#include "../fixtures/low_precision/tables.inc"

template <class Values, class Decode>
int wrong_values(const Values& values, Decode decode) {
  int wrong = 0, pattern = 0;
  for (const std::uint32_t bits : values) {
    const double ours = decode(static_cast<std::uint8_t>(pattern++));
    const auto theirs = static_cast<double>(std::bit_cast<float>(bits));
    const bool same =
        std::isnan(theirs) ? std::isnan(ours) : ours == theirs && std::signbit(ours) == std::signbit(theirs);
    wrong += !same;
  }
  return wrong;
}

template <class Cases, class Encode>
int wrong_patterns(const Cases& cases, Encode encode) {
  int wrong = 0;
  for (const Rounded& one : cases)
    wrong += encode(static_cast<double>(std::bit_cast<float>(one.given))) != one.pattern;
  return wrong;
}

std::string low_precision_problem(const std::string& argument, const std::string& more = {},
                                  const std::string& output = R"("type": "f32", "size": "n")") {
  return R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "void f() {}"}},
    "shapes": [{"name": "s", "n": 8}], "arguments": [)" +
         argument + R"(, {"name": "y", "role": "out", )" + output + "}]" + more + "}";
}

std::string with_low_type(const std::string& type, const std::string& size = "n",
                          const std::string& more = {}) {
  return low_precision_problem(R"({"name": "x", "type": ")" + type + R"(", "size": ")" + size + "\"" + more +
                               "}");
}

bool has_words(const std::string& text, const std::string& words) {
  if (text.find(words) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

}  // namespace

TEST_CASE("floats of 8 and 4 bits: the value of every pattern is that of ml_dtypes") {
  CHECK(wrong_values(f8e4m3_values, double_from_f8e4m3) == 0);
  CHECK(wrong_values(f8e5m2_values, double_from_f8e5m2) == 0);
  CHECK(wrong_values(f4e2m1_values, double_from_f4e2m1) == 0);
  CHECK(std::size(f8e4m3_values) == 256);
  CHECK(std::size(f8e5m2_values) == 256);
  CHECK(std::size(f4e2m1_values) == 16);
}

TEST_CASE(
    "floats of 8 and 4 bits: values, middles and their neighbours, and what is too large round as in "
    "ml_dtypes") {
  CHECK(wrong_patterns(f8e4m3_rounded, f8e4m3_from_double) == 0);
  CHECK(wrong_patterns(f8e5m2_rounded, f8e5m2_from_double) == 0);
  CHECK(wrong_patterns(f4e2m1_rounded, f4e2m1_from_double) == 0);
  // Through float these would round twice.
  CHECK(double_from_f8e4m3(f8e4m3_from_double(1.0625 + std::ldexp(1.0, -40))) == 1.125);
  CHECK(double_from_f4e2m1(f4e2m1_from_double(0.25 + std::ldexp(1.0, -40))) == 0.5);
}

TEST_CASE("floats of 8 and 4 bits: NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(f8e4m3_from_double(nan) == 0x7f);
  CHECK(f8e4m3_from_double(-nan) == 0xff);
  CHECK(std::isnan(double_from_f8e5m2(f8e5m2_from_double(nan))));
  CHECK(double_from_f4e2m1(f4e2m1_from_double(nan)) == 0);
}

TEST_CASE("packed types: the element of even index is in the lower four bits, and neighbours stay") {
  for (const ElementType type : {ElementType::i4, ElementType::u4, ElementType::f4e2m1}) {
    CAPTURE(to_string(type));
    const double one = type == ElementType::f4e2m1 ? 1.5 : 3, other = type == ElementType::u4 ? 9 : -4;
    std::byte both{0xff};
    store_element(type, one, &both, 0);
    CHECK((both & std::byte{0xf0}) == std::byte{0xf0});
    store_element(type, other, &both, 1);
    CHECK(load_element(type, &both, 0) == one);
    CHECK(load_element(type, &both, 1) == other);
    CHECK(load_element(type, &both) == one);
  }
  std::byte two[2]{};
  store_element(ElementType::i4, std::int64_t{-8}, two, 3);
  CHECK(two[0] == std::byte{0});
  CHECK(two[1] == std::byte{0x80});
}

TEST_CASE("four-bit integers saturate, round to even and drop NaN") {
  const auto stored = [](ElementType type, double value) {
    std::byte byte{};
    store_element(type, value, &byte);
    return load_element(type, &byte);
  };
  CHECK(stored(ElementType::i4, 9) == 7);
  CHECK(stored(ElementType::i4, -9) == -8);
  CHECK(stored(ElementType::i4, -1000) == -8);
  CHECK(stored(ElementType::i4, 2.5) == 2);
  CHECK(stored(ElementType::u4, 200) == 15);
  CHECK(stored(ElementType::u4, -1) == 0);
  CHECK(stored(ElementType::u4, std::nan("")) == 0);
}

TEST_CASE("smallest_from and greatest_below of small floats look at all values") {
  CHECK(smallest_from(ElementType::f8e4m3, 1.01) == 1.125);
  CHECK(greatest_below(ElementType::f8e4m3, 1.0) == 0.9375);
  CHECK(greatest_below(ElementType::f8e4m3, std::numeric_limits<double>::infinity()) == 448);
  CHECK(greatest_below(ElementType::f8e5m2, 1e9) == 57344);
  CHECK(greatest_below(ElementType::f4e2m1, 6) == 4);
  CHECK(smallest_from(ElementType::f4e2m1, -5) == -4);
}

TEST_CASE(
    "fill_input: inputs of small types keep to their range in all flavours, and have many of its values") {
  const struct {
    const char* type;
    const char* range;
    double low, high;  // inclusive
    std::size_t least;
  } cases[] = {{"f8e4m3", R"(, "low": -2, "high": 3)", -2, 2.75, 60},
               {"f8e5m2", R"(, "init": "normal")", -57344, 57344, 40},
               {"f4e2m1", "", -6, 4, 14},
               {"i4", "", -8, 7, 16},
               {"i4", R"(, "low": -3, "high": 4)", -3, 3, 7},
               {"u4", "", 0, 15, 16},
               {"u4", R"(, "init": "normal", "mean": 8, "deviation": 3)", 0, 15, 12}};
  for (const auto& one : cases) {
    CAPTURE(one.type);
    CAPTURE(one.range);
    const Problem problem = parsed(with_low_type(one.type, "n", one.range));
    const Argument& x = problem.arguments[0];
    constexpr std::size_t stored = 4096;
    for (const InputFlavour flavour :
         {InputFlavour::declared, InputFlavour::edge, InputFlavour::ill_conditioned}) {
      std::vector<std::byte> bytes(stored);
      std::set<double> met;
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        Rng rng(seed);
        fill_input(x, stored, flavour, rng, bytes.data());
        int outside = 0;
        for (std::size_t i = 0; i < stored * stored_together(x.type); ++i) {
          const double value = load_element(x.type, bytes.data(), i);
          met.insert(value);
          outside += !(value >= one.low && value <= one.high);
        }
        CHECK(outside == 0);
      }
      if (flavour == InputFlavour::declared) CHECK(met.size() >= one.least);
    }
  }
}

TEST_CASE(
    "fill_input: a range beyond four bits is cut to them, and its ends are no more likely than others") {
  const Problem problem = parsed(with_low_type("i4", "n", R"(, "low": -1000, "high": 1000)"));
  std::vector<std::byte> bytes(2000);
  Rng rng(3);
  fill_input(problem.arguments[0], bytes.size(), rng, bytes.data());
  int least = 0;
  for (std::size_t i = 0; i < 4000; ++i) least += load_element(ElementType::i4, bytes.data(), i) == -8;
  CHECK(least > 150);
  CHECK(least < 350);
}

TEST_CASE("element_count: packed types count bytes and refuse odd numbers, c64 counts parts") {
  const auto count = [](const Problem& problem) {
    return element_count(problem.arguments[0], problem.shapes[0], {});
  };
  CHECK(count(parsed(with_low_type("f8e4m3"))) == 8);
  CHECK(count(parsed(with_low_type("i4"))) == 4);
  CHECK(count(parsed(with_low_type("c64"))) == 16);
  CHECK(bytes_of_arrays(parsed(with_low_type("c64")).arguments, parsed(with_low_type("c64")).shapes[0], {}) ==
        64 + 32);
  CHECK(has_words(refusal(with_low_type("u4", "n + 1")), "the number of elements must be even"));
}

TEST_CASE("read_problem: where the small types may be") {
  CHECK(parsed(with_low_type("c64")).arguments[0].type_text() == "c64");
  CHECK(parsed(with_low_type("c64")).arguments[0].type == ElementType::f32);
  CHECK(has_words(refusal(low_precision_problem(R"({"name": "x", "type": "f8e4m3", "value": "1"})")),
                  "only arrays have"));
  CHECK(has_words(
      refusal(low_precision_problem(
          R"({"name": "x", "size": "n", "type": {"struct": "S", "fields": [{"name": "a", "type": "i4"}]}})")),
      "fields of structs cannot have"));
  for (const char* init : {"sorted", "arange", "permutation", "ill_conditioned"}) {
    CAPTURE(init);
    CHECK(has_words(refusal(with_low_type("i4", "n", R"(, "init": ")" + std::string(init) + "\"")),
                    "is not an initialisation of i4"));
  }
  CHECK(has_words(refusal(with_low_type("c64", "n", R"(, "init": "sorted")")),
                  "is not an initialisation of c64"));
  CHECK(has_words(
      refusal(low_precision_problem(R"({"name": "x", "type": "f32", "size": "n"})", R"(, "backend": "opencl",
      "launch": {"grid": ["n"], "block": [1]})",
                                    R"("type": "i4", "size": "n")")),
      "outputs of opencl and vulkan kernels cannot have"));
  CHECK(has_words(
      refusal(low_precision_problem(R"({"name": "x", "type": "f32", "size": "n"})", R"(, "backend": "cuda",
      "bit_exact": true, "launch": {"grid": ["n"], "block": [1]})",
                                    R"("type": "f8e5m2", "size": "n")")),
      "asks for the bits of f8e5m2"));
}

TEST_CASE("write_problem: small types read back, and c64 is part of the identity") {
  for (const char* type : {"f8e4m3", "f8e5m2", "f4e2m1", "i4", "u4", "c64"}) {
    CAPTURE(type);
    const Problem problem = parsed(with_low_type(type));
    const Problem again = parsed(problem_json(problem));
    CHECK(again.arguments[0].type_text() == type);
    CHECK(problem_digest(again) == problem_digest(problem));
    CHECK(problem_digest(problem) != problem_digest(parsed(with_low_type("f32"))));
  }
}

namespace {

Tolerance tolerance_from(const std::string& members, const std::string& type = "f32") {
  const Problem problem = parsed(
      low_precision_problem(R"({"name": "x", "type": "f32", "size": "n"})", {},
                            R"("size": "n", "type": ")" + type + R"(", "tolerance": {)" + members + "}"));
  return problem.tolerance_of(problem.arguments[1]);
}

std::string tolerance_refusal(const std::string& members, const std::string& type = "f32") {
  try {
    (void)tolerance_from(members, type);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE(
    "tolerance: matched_ratio, error_cap and infinities are read, and refused where they make no sense") {
  const Tolerance plain = tolerance_from("");
  CHECK(plain.matched_ratio == 1);
  CHECK(plain.infinities == Infinities::as_expected);
  const Tolerance one = tolerance_from(R"("matched_ratio": 0.99, "error_cap": 2, "infinities": "negative")");
  CHECK(one.matched_ratio == 0.99);
  CHECK(one.cap_absolute == 2.0);
  CHECK_FALSE(one.cap_relative);
  CHECK(one.absolute == 1e-4);
  CHECK(one.infinities == Infinities::negative);
  const Tolerance two = tolerance_from(R"("error_cap": {"relative": 0.5}, "infinities": "none")");
  CHECK(two.cap_relative == 0.5);
  CHECK(cap_of(two).absolute == 0);
  CHECK(two.infinities == Infinities::none);
  CHECK(cap_of(plain).absolute == std::numeric_limits<double>::max());
  CHECK(has_words(tolerance_refusal(R"("matched_ratio": 0)"), "is not a share"));
  CHECK(has_words(tolerance_refusal(R"("matched_ratio": 1.5)"), "is not a share"));
  CHECK(has_words(tolerance_refusal(R"("error_cap": -1)"), "negative cap"));
  CHECK(has_words(tolerance_refusal(R"("error_cap": {})"), "caps nothing"));
  CHECK(has_words(tolerance_refusal(R"("absolute": 3, "error_cap": 2)"), "not wider than the tolerance"));
  CHECK(has_words(tolerance_refusal(R"("infinities": "none")", "i32"), "which integers do not have"));
  CHECK(has_words(tolerance_refusal(R"("infinities": "some")"), "infinities"));
}

TEST_CASE("allowed_wrong: decimal shares of whole numbers are exact, and nothing is rounded up") {
  Tolerance tolerance;
  CHECK(allowed_wrong(tolerance, 1000000) == 0);
  tolerance.matched_ratio = 0.99;
  CHECK(allowed_wrong(tolerance, 100) == 1);
  CHECK(allowed_wrong(tolerance, 99) == 0);
  CHECK(allowed_wrong(tolerance, 1000000) == 10000);
  tolerance.matched_ratio = 0.7;
  CHECK(allowed_wrong(tolerance, 10) == 3);
}

TEST_CASE("tolerance: each part is written back and is part of the identity") {
  const auto problem = [](const std::string& members) {
    return parsed(low_precision_problem(
        R"({"name": "x", "type": "f32", "size": "n"})", {},
        R"("type": "f32", "size": "n", "tolerance": {"absolute": 1e-4)" + members + "}"));
  };
  std::set<std::string> digests{problem_digest(problem(""))};
  for (const char* members :
       {R"(, "matched_ratio": 0.9)", R"(, "error_cap": 2)", R"(, "error_cap": {"relative": 2})",
        R"(, "infinities": "none")", R"(, "infinities": "negative")"}) {
    CAPTURE(members);
    const Problem one = problem(members);
    CHECK(digests.insert(problem_digest(one)).second);
    CHECK(problem_digest(parsed(problem_json(one))) == problem_digest(one));
  }
}

TEST_CASE("scaled_tolerance: small floats scale the absolute bound, c64 does not") {
  const std::vector<double> sample(100, 0.25);
  CHECK(scaled_tolerance(ElementType::f8e4m3, {0.125, 0.125}, sample).absolute == 0.125 / 4);
  CHECK(scaled_tolerance(ElementType::c64, {0.125, 0.125}, sample).absolute == 0.125);
  const std::vector<double> tiny(100, 1e-6);
  CHECK(scaled_tolerance(ElementType::f8e4m3, {0.125, 0.125}, tiny).absolute == std::ldexp(1.0, -9));
}

TEST_CASE("quantise: scales by block, nearest codes, the greatest value at the greatest magnitude") {
  const std::vector<double> floats{1.2, -2, 0, 0, 4, 0.6, 0, 0};
  const QuantisedBlocks blocks{2, 4, 1, 2};
  CHECK(blocks.count() == 4);
  const auto codes_of = [&](ElementType type, std::vector<double>& scales,
                            ElementType scale_type = ElementType::f32) {
    std::vector<std::byte> values(8), scale_bytes(16);
    quantise(floats, blocks, type, scale_type, values.data(), scale_bytes.data());
    scales.clear();
    for (std::size_t i = 0; i < 4; ++i) scales.push_back(load_element(scale_type, scale_bytes.data(), i));
    std::vector<double> codes;
    for (std::size_t i = 0; i < 8; ++i) codes.push_back(load_element(type, values.data(), i));
    return codes;
  };
  std::vector<double> scales;
  CHECK(codes_of(ElementType::i4, scales) == std::vector<double>{4, -7, 0, 0, 7, 1, 0, 0});
  CHECK(scales[0] == approx(2.0 / 7));
  CHECK(scales[1] == 1);
  CHECK(scales[2] == approx(4.0 / 7));
  CHECK(codes_of(ElementType::u4, scales) == std::vector<double>{12, 1, 8, 8, 15, 9, 8, 8});
  CHECK(codes_of(ElementType::u8, scales) == std::vector<double>{204, 1, 128, 128, 255, 147, 128, 128});
  CHECK(codes_of(ElementType::f8e4m3, scales) == std::vector<double>{256, -448, 0, 0, 448, 64, 0, 0});
  CHECK(codes_of(ElementType::f4e2m1, scales) == std::vector<double>{4, -6, 0, 0, 6, 1, 0, 0});
  // A scale in few bits: 2 / 6 is 0.34375 there; elements follow it.
  CHECK(codes_of(ElementType::f4e2m1, scales, ElementType::f8e4m3) ==
        std::vector<double>{3, -6, 0, 0, 6, 1, 0, 0});
  CHECK(scales[0] == 0.34375);
}

TEST_CASE("quantise: a scale that was rounded down leads to the greatest value, not past it") {
  std::byte code{}, scale{};
  quantise(std::vector<double>{-474.88}, {1, 1, 1, 1}, ElementType::f8e4m3, ElementType::f8e4m3, &code,
           &scale);
  CHECK(load_element(ElementType::f8e4m3, &scale) == 1);
  CHECK(load_element(ElementType::f8e4m3, &code) == -448);
}

namespace {

std::string quantised_problem(const std::string& q,
                              const std::string& s = R"("type": "f32", "size": "n // 4")",
                              const std::string& x = {}) {
  return low_precision_problem(R"({"name": "q", "type": "f8e4m3", "size": "n", )" + q +
                               R"(}, {"name": "s", )" + s + "}" + x);
}

}  // namespace

TEST_CASE("read_problem: quantised arrays, and what is refused of them") {
  const std::string fine = R"("quantised": {"scale": "s", "columns": 8, "block": [1, 4]})";
  const Problem problem = parsed(quantised_problem(fine));
  REQUIRE(problem.arguments[0].quantised);
  CHECK(problem.arguments[1].scale_of == "q");
  CHECK(problem.arguments[0].low == -1);
  CHECK(problem_digest(parsed(problem_json(problem))) == problem_digest(problem));
  CHECK(problem_digest(problem) != problem_digest(parsed(quantised_problem(
                                       R"("quantised": {"scale": "s", "columns": 4, "block": [1, 4]})"))));
  const Problem of =
      parsed(quantised_problem(R"("quantised": {"scale": "s", "of": "x"})", R"("type": "f16", "size": 1)",
                               R"(, {"name": "x", "type": "bf16", "size": "n"})"));
  CHECK(of.arguments[2].floats_of == "q");
  CHECK(problem_digest(parsed(problem_json(of))) == problem_digest(of));

  const auto refused = [](const std::string& text, const char* words) {
    return has_words(refusal(text), words);
  };
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "z"})"), "names no argument"));
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "q"})"), "names no argument"));
  CHECK(refused(quantised_problem(fine, R"("type": "i32", "size": "n // 4")"), "is not an input of floats"));
  CHECK(refused(quantised_problem(fine, R"("type": "f32", "size": "n // 4", "low": 0)"),
                "fills an array that gets scales"));
  CHECK(refused(quantised_problem(fine, R"("type": "f32", "size": "n")"), "2 blocks, and s has 8 elements"));
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "s", "columns": 3, "block": [1, 3]})"),
                "8 elements in rows of 3"));
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "s", "columns": 8, "block": [1, 0]})"),
                "whole numbers from 1 on"));
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "s", "block": [1, 4]})"), "array without rows"));
  CHECK(refused(quantised_problem(R"("quantised": {"scale": "s", "columns": 8, "block": [4]})"),
                "is not a block"));
  CHECK(refused(quantised_problem(R"("init": "zeros", "quantised": {"scale": "s"})"), "what is not drawn"));
  CHECK(refused(quantised_problem(R"("edge": [0], "quantised": {"scale": "s"})"), "not a plain input"));
  CHECK(refused(
      quantised_problem(R"("low": 0, "quantised": {"scale": "s", "of": "x"})", R"("type": "f32", "size": 1)",
                        R"(, {"name": "x", "type": "f32", "size": "n"})"),
      "move it to x"));
  CHECK(
      refused(low_precision_problem(R"({"name": "q", "type": "f32", "size": "n", "quantised": {"scale": "s"}},
                                         {"name": "s", "type": "f32", "size": 1})"),
              "type of many bits"));
  CHECK(
      refused(low_precision_problem(R"({"name": "q", "type": "i4", "size": "n", "quantised": {"scale": "s"}},
      {"name": "p", "type": "i4", "size": "n", "quantised": {"scale": "s"}}, {"name": "s", "type": "f32", "size": 1})"),
              "gets the scales of two arrays"));
}
