// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/problem.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/problem/shape.hpp"

using namespace kernelsearch;

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
