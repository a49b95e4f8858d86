// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/skill_iteration.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("SkillIteration: what is unknown counts as unknown from the start") {
  const SkillIteration iteration;
  CHECK(iteration.status == SkillStatus::open);
  CHECK_FALSE(iteration.champion.has_value());
  CHECK_FALSE(iteration.gain.known);
  CHECK_FALSE(SkillAblation{}.id.has_value());
  CHECK(SkillEnding{}.reason == SkillEnd::none);
}

TEST_CASE("MethodVerdict: only what was seen in the machine code is proven") {
  MethodVerdict verdict;
  verdict.fate = MethodFate::effective;
  CHECK_FALSE(verdict.proven());  // evidence unknown
  verdict.evidence = Evidence::verified;
  CHECK(verdict.proven());
  verdict.fate = MethodFate::ineffective;
  CHECK_FALSE(verdict.proven());
}

TEST_CASE("SkillStatus and SkillEnd: names as reports write them") {
  CHECK(to_string(SkillPhase::closed) == "closed");
  CHECK(to_string(SkillStatus::failed_validation) == "failed_validation");
  CHECK(to_string(SkillEnd::no_kernel) == "no_kernel");
}
