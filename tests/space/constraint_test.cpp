// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/constraint.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace kernelsearch;

TEST_CASE("Constraint: an expression, or a function of named values") {
  const Constraint text = "a % b == 0";
  CHECK(text.names() == std::vector<std::string>{"a", "b"});
  CHECK(text.text() == "a % b == 0");
  CHECK(text.holds(std::vector<Value>{std::int64_t{8}, std::int64_t{4}}));
  CHECK_FALSE(text.holds(std::vector<Value>{std::int64_t{8}, std::int64_t{3}}));
  CHECK_FALSE(text.holds(std::vector<Value>{std::int64_t{8}, std::int64_t{0}}));  // no result: not valid
  const Constraint function(
      {"b", "a"}, [](std::span<const Value> v) { return to_number(v[0]) < to_number(v[1]); }, "b < a");
  CHECK(function.text() == "b < a");
  CHECK_FALSE(function.expression().has_value());
  CHECK(function.holds(std::vector<Value>{std::int64_t{1}, std::int64_t{2}}));
}
