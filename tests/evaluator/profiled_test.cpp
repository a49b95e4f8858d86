// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/profiled.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "support/word_evaluator.hpp"

using namespace kernelsearch;
using support::candidate_with;
using support::small_problem;
using support::Words;

TEST_CASE(
    "Profiled around AnyEvaluator: right candidates have what the profiler saw, in phases and in one; the "
    "rest stays") {
  struct Length {
    std::shared_ptr<int> asked = std::make_shared<int>(0);
    Features profile(const Candidate& candidate) const {
      ++*asked;
      Features features;
      features.set("length", static_cast<double>(candidate.kernel->regions.device.size()));
      return features;
    }
  };
  struct Renewing : Words {
    std::shared_ptr<int> renewed = std::make_shared<int>(0);
    void renew() const { ++*renewed; }
  };
  Renewing words{Words{small_problem()}};
  const Length length;
  AnyEvaluator any(Profiled<AnyEvaluator, Candidate, Length>(words, length));
  CHECK(any.problem().name == "twice");
  CHECK(any.device_id() == "a scripted device");
  CHECK(any.toolchain_id() == "a scripted compiler 1.0");
  CHECK(any.lanes() == 1);
  any.renew();
  CHECK(*words.renewed == 1);
  CHECK(any.evaluate(candidate_with("fast"), {}).features.find("length") == 4.0);
  auto staged = any.build(candidate_with("slow"), {});
  REQUIRE(staged.artifact);
  CHECK(*length.asked == 1);
  CHECK(any.run(std::move(staged), {}).features.find("length") == 4.0);
  CHECK(*length.asked == 2);
  CHECK(any.evaluate(candidate_with("bug"), {}).verdict == Verdict::wrong_result);
  CHECK(any.evaluate(candidate_with("broken"), {}).verdict == Verdict::build_failed);
  CHECK(*length.asked == 2);  // what is wrong is not looked into
}
