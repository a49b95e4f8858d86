// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/any_evaluator.hpp"

#include <doctest/doctest.h>

#include "support/word_evaluator.hpp"

using namespace kernelsearch;
using support::candidate_with;
using support::small_problem;
using support::Words;

TEST_CASE("AnyEvaluator: does what the one inside does, in phases and in one") {
  Words words{small_problem()};
  const auto gate = words.gate;
  AnyEvaluator any(std::move(words));
  CHECK(any.problem().name == "twice");
  CHECK(any.device_id() == "a scripted device");
  CHECK(any.device_name() == "a scripted device");  // it has no name of its own
  CHECK(any.toolchain_id() == "a scripted compiler 1.0");
  CHECK(any.lanes() == 1);
  any.renew();  // it keeps nothing: nothing happens
  auto staged = any.build(candidate_with("fast"), {});
  REQUIRE(staged.artifact);
  CHECK(gate->judged == 0);
  CHECK(any.run(std::move(staged), {}).verdict == Verdict::ok);
  CHECK(gate->judged == 1);
  CHECK(!any.build(candidate_with("broken"), {}).artifact);
  CHECK(any.evaluate(candidate_with("broken"), {}).verdict == Verdict::build_failed);
  CHECK(any.evaluate(candidate_with("bug"), {}).verdict == Verdict::wrong_result);
  AnyEvaluator moved = std::move(any);
  CHECK(moved.evaluate(candidate_with("fast"), {}).measurement.seconds <
        moved.evaluate(candidate_with("slow"), {}).measurement.seconds);
}

TEST_CASE("AnyEvaluator: renews what can be renewed") {
  struct Renewing : Words {
    std::shared_ptr<int> renewed = std::make_shared<int>(0);
    void renew() const { ++*renewed; }
  };
  Renewing renewing;
  const auto renewed = renewing.renewed;
  AnyEvaluator any(std::move(renewing));
  any.renew();
  CHECK(*renewed == 1);
}

TEST_CASE("AnyEvaluator: compares where the one inside can") {
  struct Comparing : Words {
    Speedup compare(const Candidate&, const Candidate&, const PairOptions& pairs) const {
      return {2.0, {1.9, 2.1}, static_cast<std::uint32_t>(pairs.max_pairs)};
    }
  };
  const Problem problem = small_problem();
  const Candidate candidate = problem.default_candidate();
  CHECK(!AnyEvaluator(Words{problem}).compare(candidate, candidate));
  AnyEvaluator any(Comparing{{problem}});
  const auto speedup = any.compare(candidate, candidate, {.max_pairs = 77});
  REQUIRE(speedup);
  CHECK(speedup->ratio == 2.0);
  CHECK(speedup->pairs == 77);
  static_assert(PairingEvaluator<AnyEvaluator, Candidate>);
}

TEST_CASE("AnyEvaluator: carries what was built where the one inside can") {
  struct Carrying : Words {
    [[nodiscard]] PortableArtifact carry(const Artifact& artifact) const {
      return {artifact.candidate.kernel->regions.device, {}, false};
    }
    [[nodiscard]] Artifact carried(const Candidate& candidate, const PortableArtifact&) const {
      return {candidate};
    }
  };
  AnyEvaluator no(Words{small_problem()});
  auto staged = no.build(candidate_with("fast"), {});
  CHECK(!no.carry(*staged.artifact));
  CHECK(!no.carried(candidate_with("fast"), {}));
  AnyEvaluator one(Carrying{{small_problem()}}), other(Carrying{{small_problem()}});
  staged = one.build(candidate_with("fast"), {});
  const auto portable = one.carry(*staged.artifact);
  REQUIRE(portable);
  CHECK(portable->code == "fast");
  auto artifact = other.carried(candidate_with("fast"), *portable);
  REQUIRE(artifact);
  CHECK(other.run({{}, std::move(artifact)}, {}).verdict == Verdict::ok);
}
