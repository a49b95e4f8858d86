// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/hidden_shapes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"

using namespace kernelsearch;

namespace {

std::string hidden_text(const std::string& more, const std::string& reference = R"(, "reference": {"source":
    {"text": "void r(int, int, const real*, real*) {}"}, "function": "r"})") {
  return R"({"schema": 1, "name": "p", "function": "f",
    "arguments": [{"name": "n", "type": "i32"}, {"name": "m", "type": "i32"},
                  {"name": "x", "type": "f32", "size": "n * m"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "kernel": {"device": {"text": "extern \"C\" void f(int, int, const float*, float*) {}"}},
    "tunables": {"TILE": [8, 32]},
    "shapes": [{"name": "a", "n": 64, "m": 128}, {"name": "b", "n": 100, "m": 7}])" +
         reference + more + "}";
}

Problem problem_with(const std::string& more) {
  return parse_problem(hidden_text(more), ".");
}

std::int64_t size_in(const Shape& shape, const char* name) {
  for (const NamedValue& variable : shape.variables)
    if (variable.first == name) return std::get<std::int64_t>(variable.second);
  FAIL("no such variable");
  return 0;
}

std::vector<Shape> drawn(const Problem& problem, std::uint64_t seed) {
  Rng rng(seed);
  return draw_hidden_shapes(problem, problem.default_candidate(), hidden_shape_limits(problem), rng);
}

void check_refused(const std::string& more, const char* words) {
  CAPTURE(more);
  std::string message;
  try {
    (void)problem_with(more);
  } catch (const ConfigError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("hidden shapes: what is drawn keeps to ranges, multiples, conditions and limits") {
  const Problem problem = problem_with(R"(, "hidden_shapes": {"count": 5, "where": ["n >= 3", "n != m"],
    "ranges": {"n": [1, 50], "m": {"low": 3, "high": 4000, "multiple_of": 8}}})");
  REQUIRE(problem.hidden_shapes);
  std::set<std::int64_t> n_seen, m_seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto shapes = drawn(problem, seed);
    REQUIRE(shapes.size() == 5);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::int64_t n = size_in(shapes[i], "n"), m = size_in(shapes[i], "m");
      CHECK(n >= 3);
      CHECK(n <= 50);
      CHECK(m >= 8);
      CHECK(m <= 4000);
      CHECK(m % 8 == 0);
      CHECK(n != m);
      CHECK(shapes[i].weight == 0);
      CHECK(shapes[i].name == "hidden n=" + std::to_string(n) + " m=" + std::to_string(m));
      n_seen.insert(n);
      m_seen.insert(m);
      for (std::size_t j = 0; j < i; ++j) CHECK(shapes[j].variables != shapes[i].variables);
      if (i > 0) CHECK(size_in(shapes[i - 1], "n") * (1 + size_in(shapes[i - 1], "m")) <= n * (1 + m));
    }
  }
  // all of a small range, and of a large one its ends and the neighbours of the listed sizes
  CHECK(n_seen.size() == 48);
  for (const std::int64_t m : {8, 16, 4000, 120, 136}) CHECK(m_seen.contains(m));
}

TEST_CASE("hidden shapes: a variable without a range has a listed value") {
  const Problem problem = problem_with(R"(, "hidden_shapes": {"ranges": {"n": [1, 5000]}})");
  std::set<std::int64_t> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Shape& shape : drawn(problem, seed)) seen.insert(size_in(shape, "m"));
  CHECK(seen == std::set<std::int64_t>{7, 128});
}

TEST_CASE("hidden shapes: other seeds give other shapes, and none of them is listed") {
  const Problem problem = problem_with(R"(, "hidden_shapes": {"ranges": {"n": [60, 110]}})");
  std::set<std::string> names;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const Shape& shape : drawn(problem, seed)) {
      names.insert(shape.name);
      CHECK(shape.variables != problem.shapes[0].variables);
      CHECK(shape.variables != problem.shapes[1].variables);
    }
  CHECK(names.size() > 60);
}

TEST_CASE("hidden shapes: `valid` holds for the candidate, and for the default that is the reference") {
  const std::string hidden =
      R"(, "valid": "n % TILE == 0 or n in [64, 100]", "hidden_shapes": {"ranges": {"n": [1, 256]}})";
  const Problem independent = problem_with(hidden);
  // Its default is at 32: sizes that only 8 divides have nothing that says what is right.
  const Problem own = parse_problem(hidden_text(hidden + R"(, "default": {"TILE": 32})", ""), ".");
  Candidate narrow = own.default_candidate();
  narrow.config = Config{{0}};
  bool not_of_wide = false;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const Shape& shape : drawn(independent, seed)) {
      const std::int64_t n = size_in(shape, "n");
      CHECK((n % 8 == 0 || n == 100));
      not_of_wide = not_of_wide || n % 32 != 0;
    }
    Rng rng(seed);
    for (const Shape& shape : draw_hidden_shapes(own, narrow, hidden_shape_limits(own), rng)) {
      const std::int64_t n = size_in(shape, "n");
      CHECK((n % 32 == 0 || n == 64 || n == 100));
    }
  }
  CHECK(not_of_wide);
}

TEST_CASE("hidden shapes: none is larger than the largest listed shape, or than 4 MiB") {
  const Problem small =
      problem_with(R"(, "hidden_shapes": {"ranges": {"n": [1, 100000], "m": [1, 100000]}})");
  CHECK(hidden_shape_limits(small).bytes == 4 << 20);
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Shape& shape : drawn(small, seed))
      CHECK(size_in(shape, "n") * (size_in(shape, "m") + 1) * 4 <= 4 << 20);
  const Problem counted = problem_with(
      R"(, "operations": "n * n * n", "hidden_shapes": {"ranges": {"n": [1, 100000], "m": [1, 7]}})");
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Shape& shape : drawn(counted, seed)) CHECK(size_in(shape, "n") <= 464);  // 10^8
}

TEST_CASE("hidden shapes: written and read again they are the same, and part of the identity") {
  const Problem plain = problem_with("");
  CHECK_FALSE(plain.hidden_shapes);
  const Problem one = problem_with(
      R"(, "hidden_shapes": {"count": 4, "ranges": {"m": {"low": 8, "high": 80, "multiple_of": 8}, "n": [1, 9]}, "where": "n < m"})");
  const Problem again = parse_problem(problem_json(one), ".");
  REQUIRE(again.hidden_shapes);
  CHECK(again.hidden_shapes->count == 4);
  REQUIRE(again.hidden_shapes->ranges.size() == 2);
  CHECK(again.hidden_shapes->ranges[0].name == "m");
  CHECK(again.hidden_shapes->ranges[0].multiple_of == 8);
  CHECK(again.hidden_shapes->ranges[1].high == 9);
  REQUIRE(again.hidden_shapes->where.size() == 1);
  CHECK(again.hidden_shapes->where[0].text() == "n < m");
  CHECK(problem_digest(again) == problem_digest(one));
  std::set<std::string> digests{problem_digest(plain), problem_digest(one)};
  for (const char* other :
       {R"({"count": 5, "ranges": {"n": [1, 9]}})", R"({"count": 4, "ranges": {"n": [1, 9]}})",
        R"({"count": 4, "ranges": {"n": [2, 9]}})",
        R"({"count": 4, "ranges": {"n": [1, 9]}, "where": "n < m"})"})
    digests.insert(problem_digest(problem_with(std::string(R"(, "hidden_shapes": )") + other)));
  CHECK(digests.size() == 6);
}

TEST_CASE("hidden shapes: mistakes are named") {
  const auto hidden = [](const std::string& text) { return R"(, "hidden_shapes": )" + text; };
  check_refused(hidden("3"), "/hidden_shapes");
  check_refused(hidden("{}"), "ranges");
  check_refused(hidden(R"({"ranges": {}})"), "gives no range");
  check_refused(hidden(R"({"ranges": {"k": [1, 2]}})"), "is not a variable of the shapes");
  check_refused(hidden(R"({"ranges": {"nn": [1, 2]}})"), "did you mean n?");
  check_refused(hidden(R"({"ranges": {"n": [1, 2, 3]}})"), "is not a range: 3 numbers");
  check_refused(hidden(R"({"ranges": {"n": [9, 2]}})"), "holds no number: 9 to 2");
  check_refused(hidden(R"({"ranges": {"n": {"low": 9, "high": 15, "multiple_of": 8}}})"), "multiples of 8");
  check_refused(hidden(R"({"ranges": {"n": {"low": 9, "high": 15, "multiple_of": 0}}})"), "is below 1");
  check_refused(hidden(R"({"ranges": {"n": {"low": 9}}})"), "high");
  check_refused(hidden(R"({"ranges": {"n": {"low": 9, "high": 15, "step": 1}}})"), "step");
  check_refused(hidden(R"({"ranges": {"n": [1, 9000000000000000000]}})"), "beyond 2^40");
  check_refused(hidden(R"({"ranges": {"n": [1, 9]}, "count": 0})"), "is not a number from 1 to 64");
  check_refused(hidden(R"({"ranges": {"n": [1, 9]}, "where": "k > 1"})"), "k");
  check_refused(hidden(R"({"ranges": {"n": [1, 9]}, "where": "n > 9"})"), "leaves no shape to draw");
  check_refused(hidden(R"({"ranges": {"n": [2000000, 2000001]}})"), "at most 4 MiB");
  check_refused(R"(, "valid": "n in [64, 100]", "hidden_shapes": {"ranges": {"n": [1, 9]}})",
                "none of 3000 drawn sizes is accepted");
  check_refused(
      R"(, "generator": {"source": {"text": "int x;"}, "sizes": ["k"]}, "hidden_shapes": {"ranges": {"n": [1, 9]}})",
      "needs inputs for any size");
}

TEST_CASE("libraries and over_read_bytes: read, written, part of the identity, mistakes named") {
  const Problem plain = problem_with("");
  CHECK_FALSE(plain.libraries);
  const Problem none = problem_with(R"(, "libraries": "none")");
  REQUIRE(none.libraries);
  CHECK(none.libraries->empty());
  const Problem two = problem_with(R"(, "libraries": ["m", "openblas"], "build": {"libraries": ["m"]})");
  CHECK(*two.libraries == std::vector<std::string>{"m", "openblas"});
  for (const Problem* one : {&none, &two}) {
    const Problem again = parse_problem(problem_json(*one), ".");
    CHECK(again.libraries == one->libraries);
    CHECK(problem_digest(again) == problem_digest(*one));
    CHECK(problem_digest(*one) != problem_digest(plain));
  }
  const Problem more = problem_with(R"(, "over_read_bytes": 63)");
  CHECK(more.over_read_bytes == 63);
  CHECK(parse_problem(problem_json(more), ".").over_read_bytes == 63);
  CHECK(problem_digest(more) != problem_digest(plain));
  check_refused(R"(, "libraries": "all")", "is neither \"none\" nor a list");
  check_refused(R"(, "libraries": "none", "build": {"libraries": ["m"]})",
                "does not allow a library that \"build\" links: m");
  check_refused(R"(, "over_read_bytes": -1)", "is not a number from 0 to 4096");
  check_refused(R"(, "over_read_bytes": 5000)", "is not a number from 0 to 4096");
}

namespace {

/// `shapes` of the variables n, m and t; arrays of n * m and of m.
Problem sized(const std::string& shapes, const std::string& more = {}, const std::string& size = "n * m") {
  return parse_problem(
      R"({"schema": 1, "name": "p", "function": "f", "arguments": [{"name": "x", "type": "f32", "size": ")" +
          size +
          R"("}, {"name": "y", "type": "f32", "size": "m", "role": "out"}],
        "kernel": {"device": {"text": "void f() {}"}}, "reference": {"function": "r", "source": {"text": "r"}}, "shapes": [)" +
          shapes + "]" + more + "}",
      std::filesystem::path(KERNELSEARCH_SOURCE_DIR));
}

std::int64_t value_of(const Shape& shape, const std::string& name) {
  for (const NamedValue& variable : shape.variables)
    if (variable.first == name) return std::get<std::int64_t>(variable.second);
  return -1;
}

}  // namespace

TEST_CASE("derived hidden shapes: sizes vary between the listed ones, in steps that all have in common") {
  std::string why;
  const Problem problem =
      with_hidden_shapes(sized(R"({"n": 64, "m": 1000, "t": 3}, {"n": 256, "m": 17, "t": 5})"), why);
  REQUIRE_MESSAGE(problem.hidden_shapes, why);
  CHECK(why.empty());
  CHECK(problem.hidden_shapes->derived);
  Rng rng(5);
  std::set<std::int64_t> met;
  for (int i = 0; i < 100; ++i)
    for (const Shape& shape :
         draw_hidden_shapes(problem, problem.default_candidate(), hidden_shape_limits(problem), rng)) {
      met.insert(value_of(shape, "m"));
      REQUIRE(value_of(shape, "n") % 64 == 0);
      REQUIRE(value_of(shape, "n") >= 64);
      REQUIRE(value_of(shape, "n") <= 256);
      REQUIRE(value_of(shape, "m") >= 17);
      REQUIRE(value_of(shape, "m") <= 1000);
      REQUIRE((value_of(shape, "t") == 3 || value_of(shape, "t") == 5));  // names no size: as listed
    }
  CHECK(met.size() > 50);
}

TEST_CASE("hidden shapes: one of them has remainders that no listed shape has, where `valid` accepts such") {
  std::string why;
  const std::string shapes = R"({"n": 61, "m": 103, "t": 1}, {"n": 256, "m": 256, "t": 1})";
  const Problem any = with_hidden_shapes(sized(shapes), why);
  const Problem eights = with_hidden_shapes(sized(shapes, R"(, "valid": "m % 8 in [0, 7]")"), why);
  REQUIRE(any.hidden_shapes);
  REQUIRE(eights.hidden_shapes);
  Rng rng(11);
  for (int i = 0; i < 50; ++i) {
    const auto of = [&](const Problem& problem) {
      return draw_hidden_shapes(problem, problem.default_candidate(), hidden_shape_limits(problem), rng);
    };
    const auto drawn = of(any);
    CHECK(std::any_of(drawn.begin(), drawn.end(), [](const Shape& shape) {
      return value_of(shape, "m") % 8 != 0 && value_of(shape, "m") % 8 != 7 &&
             value_of(shape, "n") % 8 != 0 && value_of(shape, "n") % 8 != 5;
    }));
    CHECK(of(eights).size() == 2);
  }
}

TEST_CASE("derived hidden shapes: what two variables have in common everywhere stays so, constants stay") {
  std::string why;
  const auto drawn = [&](const std::string& shapes, const std::string& size = "n * m * t") {
    const Problem problem = with_hidden_shapes(sized(shapes, "", size), why);
    REQUIRE_MESSAGE(problem.hidden_shapes, why);
    std::vector<Shape> all;
    Rng rng(7);
    for (int i = 0; i < 50; ++i)
      for (Shape& shape :
           draw_hidden_shapes(problem, problem.default_candidate(), hidden_shape_limits(problem), rng))
        all.push_back(std::move(shape));
    REQUIRE(!all.empty());
    return all;
  };
  for (const Shape& shape : drawn(R"({"n": 10, "m": 30, "t": 7}, {"n": 21, "m": 63, "t": 7})")) {
    CHECK(value_of(shape, "m") == 3 * value_of(shape, "n"));
    CHECK(value_of(shape, "t") == 7);
  }
  for (const Shape& shape : drawn(R"({"n": 12, "m": 4, "t": 1}, {"n": 50, "m": 5, "t": 1})"))
    CHECK(value_of(shape, "n") % value_of(shape, "m") == 0);
  for (const Shape& shape : drawn(R"({"n": 5, "m": 9, "t": 1}, {"n": 100, "m": 211, "t": 1})"))
    CHECK(value_of(shape, "n") <= value_of(shape, "m"));
}

TEST_CASE("derived hidden shapes: `valid` of the default holds too, and why there are none is said") {
  std::string why;
  const Problem even =
      with_hidden_shapes(sized(R"({"n": 10, "m": 3, "t": 1}, {"n": 41, "m": 9, "t": 1})",
                               R"(, "tunables": {"STEP": [2, 1]}, "valid": "n % STEP == 0 or n == 41")"),
                         why);
  REQUIRE_MESSAGE(even.hidden_shapes, why);
  Candidate one = even.default_candidate();
  one.config = Config{{1}};
  Rng rng(3);
  for (int i = 0; i < 50; ++i)
    for (const Shape& shape : draw_hidden_shapes(even, one, hidden_shape_limits(even), rng))
      CHECK((value_of(shape, "n") % 2 == 0 || value_of(shape, "n") == 41));
  CHECK(!derived_hidden_shapes(sized(R"({"n": 10, "m": 3, "t": 1}, {"n": 10, "m": 3, "t": 2})"), why));
  CHECK(why.find("several values") != std::string::npos);
  CHECK(!derived_hidden_shapes(sized(R"({"n": 10, "m": 3, "t": 1}, {"n": 11, "m": 3, "t": 1})"), why));
  CHECK(why.find("none is accepted") != std::string::npos);
}

TEST_CASE(
    "hidden shapes: a reason for none is read, written, part of the identity, and none are derived then") {
  const std::string shapes = R"({"n": 10, "m": 3, "t": 1}, {"n": 41, "m": 9, "t": 1})";
  const Problem plain = sized(shapes),
                none = sized(shapes, R"(, "hidden_shapes": {"none": "made for these"})");
  REQUIRE(none.hidden_shapes);
  CHECK(none.hidden_shapes->none == "made for these");
  CHECK(problem_digest(plain) != problem_digest(none));
  const Problem again = parse_problem(problem_json(none), std::filesystem::path(KERNELSEARCH_SOURCE_DIR));
  CHECK(again.hidden_shapes->none == "made for these");
  std::string why;
  const Problem with = with_hidden_shapes(none, why);
  CHECK(with.hidden_shapes->ranges.empty());
  CHECK(why.empty());
  Rng rng(1);
  CHECK(draw_hidden_shapes(with, with.default_candidate(), hidden_shape_limits(with), rng).empty());
  CHECK_THROWS(sized(shapes, R"(, "hidden_shapes": {"none": " "})"));
  CHECK_THROWS(sized(shapes, R"(, "hidden_shapes": {"none": "x", "count": 3})"));
}
