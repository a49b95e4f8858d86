// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/fresh_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "support.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail;

namespace {

/// A problem whose inputs are declared as given.
Problem with_inputs(const std::string& inputs) {
  return parse_problem(
      R"({"schema": 1, "name": "p", "backend": "host", "function": "f", "arguments": [)" + inputs +
          R"(, {"name": "y", "type": "f32", "size": "n", "role": "out"}, {"name": "n", "type": "i32"}],
        "kernel": {"device": {"text": "void f() {}"}}, "shapes": [{"name": "s", "n": 4096}]})",
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
  const Problem problem = with_inputs(R"({"name": "x", "type": "f32", "size": "n", "low": -2, "high": 6})");
  const auto one = drawn<float>(problem, 1, 2), again = drawn<float>(problem, 1, 2),
             other = drawn<float>(problem, 1, 3);
  CHECK(one == again);
  CHECK(one != other);
  CHECK(*std::min_element(one.begin(), one.end()) >= -2);
  CHECK(*std::max_element(one.begin(), one.end()) < 6);
  double mean = 0, square = 0;
  for (const float value : one) mean += value / 4096.0;
  for (const float value : one) square += (value - mean) * (value - mean) / 4096.0;
  CHECK(mean == doctest::Approx(2).epsilon(0.15));
  CHECK(square == doctest::Approx(64.0 / 12).epsilon(0.1));
  // A table of values met before is of no use.
  const std::set<float> met(one.begin(), one.end());
  CHECK(std::count_if(other.begin(), other.end(), [&](float value) { return met.contains(value); }) < 40);
}

TEST_CASE("FreshInputs: a normal distribution stays one, integers reach every value") {
  const auto normal = drawn<double>(
      with_inputs(
          R"({"name": "x", "type": "f64", "size": "n", "init": "normal", "mean": 1, "deviation": 2})"),
      1, 2);
  double mean = 0, square = 0;
  for (const double value : normal) mean += value / 4096;
  for (const double value : normal) square += (value - mean) * (value - mean) / 4096;
  CHECK(mean == doctest::Approx(1).epsilon(0.15));
  CHECK(std::sqrt(square) == doctest::Approx(2).epsilon(0.06));
  const auto few = drawn<std::int32_t>(
      with_inputs(R"({"name": "x", "type": "i32", "size": "n", "low": 3, "high": 7})"), 1, 2);
  CHECK(std::set<std::int32_t>(few.begin(), few.end()) == std::set<std::int32_t>{3, 4, 5, 6});
  const auto many = drawn<std::uint64_t>(
      with_inputs(R"({"name": "x", "type": "u64", "size": "n", "low": 0, "high": 1e15})"), 1, 2);
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
