// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/evaluate.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;

TEST_CASE("evaluate: looks names up in the variables first, then in the others") {
  const std::vector<NamedValue> variables{{"n", std::int64_t{6}}, {"m", std::int64_t{2}}};
  const std::vector<NamedValue> more{{"T", std::int64_t{4}}, {"n", std::int64_t{100}}};
  CHECK(evaluate(Expression::parse("n * m + T"), variables, more) == Value{std::int64_t{16}});
}

TEST_CASE("evaluate: an unknown name is refused with the nearest known one") {
  const std::vector<NamedValue> variables{{"height", std::int64_t{6}}};
  CHECK_THROWS_WITH_AS((void)evaluate(Expression::parse("hieght"), variables, {}, "the size of a"),
                       doctest::Contains("the size of a"), ConfigError);
  CHECK_THROWS_WITH_AS((void)evaluate(Expression::parse("hieght"), variables),
                       doctest::Contains("did you mean height?"), ConfigError);
}

TEST_CASE("named_values: every tunable with its value, in order") {
  const Problem problem = kernelsearch_test::parsed(kernelsearch_test::full_problem);
  const Space& space = problem.kernel.space;
  const auto values = named_values(space, space.default_config());
  REQUIRE(values.size() == space.size());
  CHECK(values[0] == NamedValue{"TILE", Value{std::int64_t{8}}});
  CHECK(values[4] == NamedValue{"ORDER", Value{Permutation{1, 0, 2}}});
}

TEST_CASE("is_true: as Python sees it") {
  CHECK(is_true(Value{true}));
  CHECK(is_true(Value{std::int64_t{-1}}));
  CHECK(is_true(Value{0.5}));
  CHECK(is_true(Value{std::string("x")}));
  CHECK(is_true(Value{Permutation{0}}));
  CHECK_FALSE(is_true(Value{false}));
  CHECK_FALSE(is_true(Value{0.0}));
  CHECK_FALSE(is_true(Value{std::string()}));
  CHECK_FALSE(is_true(Value{Permutation{}}));
}

TEST_CASE("is_valid: over shape variables and tunables; what cannot be evaluated is not valid") {
  Problem problem = kernelsearch_test::parsed(kernelsearch_test::full_problem);
  const Config& config = problem.kernel.space.default_config();
  const Shape& shape = problem.shapes[0];
  problem.valid = Expression::parse("n == 512 and TILE == 8");
  CHECK(is_valid(problem, shape, config));
  problem.valid = Expression::parse("n > 512 or TILE < 8");
  CHECK_FALSE(is_valid(problem, shape, config));
  problem.valid = Expression::parse("1 // (TILE - 8) == 0");
  CHECK_FALSE(is_valid(problem, shape, config));
  CHECK_FALSE(is_valid(problem, shape, problem.default_candidate()));
  problem.valid.reset();
  CHECK(is_valid(problem, shape, config));
}

TEST_CASE("is_valid: of a kernel with tunables of its own, the problem's at their defaults") {
  Problem problem = kernelsearch_test::parsed(kernelsearch_test::full_problem);
  problem.valid = Expression::parse("TILE == 8 and n == 512");
  const Shape& shape = problem.shapes[0];
  Kernel kernel = problem.kernel;
  kernel.space = SpaceBuilder().add(Tunable::integer("WIDTH", 0, 9)).build();
  CHECK(is_valid(problem, shape, Candidate{std::make_shared<const Kernel>(kernel), Config{{5}}}));
  kernel.space = SpaceBuilder().add(Tunable::integer("TILE", 0, 9)).build();
  CHECK_FALSE(is_valid(problem, shape, Candidate{std::make_shared<const Kernel>(kernel), Config{{5}}}));
  CHECK(is_valid(problem, shape, Candidate{std::make_shared<const Kernel>(kernel), Config{{8}}}));
}
