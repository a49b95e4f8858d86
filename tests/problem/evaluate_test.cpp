// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/evaluate.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernelsearch/core/error.hpp"

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
