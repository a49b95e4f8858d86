// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/move_sign.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("move signs: the strongest for and the strongest against count, and what is unknown is not seen") {
  const std::vector<MoveSign> signs{{Expression::parse("call > 0"), 0.5, "calls"},
                                    {Expression::parse("call > 3"), 0.9, "many calls"},
                                    {Expression::parse("wide > 0"), -0.6, "wide"},
                                    {Expression::parse("trait.matmul and call > 3"), 1.0, "a product"}};
  Features features;
  CHECK(seen_signs(signs, features).worth == 0);
  CHECK(seen_signs(signs, features).main == nullptr);
  features.set("call", 2);
  CHECK(seen_signs(signs, features).worth == 0.5);
  CHECK(seen_signs(signs, features).main->because == "calls");
  features.set("call", 4);
  CHECK(seen_signs(signs, features).worth == 0.9);
  features.set("wide", 1);
  CHECK(seen_signs(signs, features).worth == approx(0.3));
  CHECK(seen_signs(signs, features).main->because == "many calls");
  features.set("call", 0);
  CHECK(seen_signs(signs, features).worth == -0.6);
  // What the problem is known to be counts where the kernel's features do not say it.
  Features problem;
  problem.set("trait.matmul", 1);
  features.set("call", 4);
  CHECK(seen_signs(signs, features, problem).worth == approx(0.4));
  features.set("trait.matmul", 0);
  CHECK(seen_signs(signs, features, problem).worth == approx(0.3));
}
