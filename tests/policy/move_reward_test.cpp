// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/move_reward.hpp"

#include <doctest/doctest.h>

#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("MoveReward: relative gain, clipped; failures; mending") {
  TreeNode parent, child;
  parent.verdict = child.verdict = Verdict::ok;
  parent.objective = 10;
  child.objective = 7;
  CHECK(MoveReward{}(parent, child) == approx(0.3));
  child.objective = 100;
  CHECK(MoveReward{}(parent, child) == -1.0);
  CHECK(MoveReward{.failure = 0, .floor = 0}(parent, child) == 0.0);
  child.verdict = Verdict::crashed;
  child.progress = 0.25;
  CHECK(MoveReward{.failure = -0.2}(parent, child) == -0.2);
  parent.verdict = Verdict::build_failed;
  parent.progress = 0.0;
  CHECK(MoveReward{}(parent, child) == 0.25);
  child.verdict = Verdict::ok;
  CHECK(MoveReward{}(parent, child) == 1.0);
}
