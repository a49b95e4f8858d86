// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/problem.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernelsearch/problem/shape.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE(
    "Problem: an output's tolerance is its own, else the problem's for its type, else the type's default") {
  Problem problem;
  Argument argument;
  argument.type = ElementType::f32;
  CHECK(problem.tolerance_of(argument).absolute == 1e-4);
  problem.tolerances.emplace_back(ElementType::f64, Tolerance{5, 6});
  CHECK(problem.tolerance_of(argument).absolute == 1e-4);
  problem.tolerances.emplace_back(ElementType::f32, Tolerance{1, 2});
  CHECK(problem.tolerance_of(argument).absolute == 1.0);
  CHECK(problem.tolerance_of(argument).relative == 2.0);
  argument.tolerance = Tolerance{3, 4};
  CHECK(problem.tolerance_of(argument).absolute == 3.0);
}

TEST_CASE("Problem: its default candidate is its kernel at the default of its space") {
  Problem problem;
  problem.kernel.regions.device = "code";
  problem.kernel.space = Space::build({Tunable::boolean("FAST").with_default(Value{true})});
  const Candidate candidate = problem.default_candidate();
  CHECK(candidate.kernel->regions == problem.kernel.regions);
  CHECK(candidate.kernel->space.key(candidate.config) ==
        problem.kernel.space.key(problem.kernel.space.default_config()));
  CHECK(candidate.kernel->space.key(candidate.config) == "true");
}

TEST_CASE("default_tolerance: integers and bool are exact, wider floats are tighter") {
  for (int t = 0; t < element_type_count; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (is_floating(type))
      CHECK(default_tolerance(type).relative > 0);
    else
      CHECK(default_tolerance(type).absolute + default_tolerance(type).relative == 0.0);
  }
  CHECK(default_tolerance(ElementType::bf16).relative > default_tolerance(ElementType::f16).relative);
  CHECK(default_tolerance(ElementType::f16).relative > default_tolerance(ElementType::f32).relative);
  CHECK(default_tolerance(ElementType::f32).relative > default_tolerance(ElementType::f64).relative);
}

TEST_CASE(
    "scaled_tolerance: of the half types the absolute bound is a share of how large values are below 1") {
  const Tolerance declared{0.01, 0.02};
  const std::vector<double> small{0.003, -0.004, std::numeric_limits<double>::infinity()}, large{3, 4},
      none{0, 0};
  const double scale = std::sqrt((0.003 * 0.003 + 0.004 * 0.004) / 2);
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    CHECK(scaled_tolerance(type, declared, small).absolute == approx(0.01 * scale));
    CHECK(scaled_tolerance(type, declared, small).relative == 0.02);
    CHECK(scaled_tolerance(type, declared, large).absolute == 0.01);
    CHECK(scaled_tolerance(type, declared, none).absolute == 0.01);
  }
  for (const ElementType type : {ElementType::f32, ElementType::f64})
    CHECK(scaled_tolerance(type, declared, small).absolute == 0.01);
  const std::vector<double> tiny{1e-9};
  CHECK(scaled_tolerance(ElementType::f16, declared, tiny).absolute == 0x1p-24);
  CHECK(scaled_tolerance(ElementType::f16, {0, 0.02}, tiny).absolute == 0);
}

TEST_CASE(
    "scale_sample: all of a small output, four pieces of a large one with its first and last elements") {
  CHECK(scale_sample(8192) == std::vector<std::pair<std::size_t, std::size_t>>{{0, 8192}});
  const auto pieces = scale_sample(1000001);
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[0].first == 0);
  CHECK(pieces[3].first + pieces[3].second > 1000001 - 4);
  CHECK(pieces[3].first + pieces[3].second <= 1000001);
  std::vector<double> values(1000001, 0.5);
  values[5000] = 1e6;  // in none of the pieces
  CHECK(tolerance_for(ElementType::bf16, {0.04, 0.04}, values).absolute == approx(0.02));
}
