// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/service/any_evaluator.hpp"

#include <doctest/doctest.h>

#include "run/support.hpp"

using namespace run_test;

TEST_CASE("AnyEvaluator: does what the one inside does, in phases and in one") {
  Words words{small_problem()};
  const auto gate = words.gate;
  AnyEvaluator any(std::move(words));
  CHECK(any.problem().name == "twice");
  CHECK(any.device_id() == "a scripted device");
  CHECK(any.toolchain_id() == "a scripted compiler 1.0");
  CHECK(any.lanes() == 1);
  any.renew();  // it keeps nothing: nothing happens
  const Problem problem = small_problem();
  const auto candidate = [&problem](const std::string& text) {
    return Candidate{std::make_shared<const Kernel>(Kernel{{text, "", ""}, problem.kernel.space}),
                     problem.kernel.space.default_config()};
  };
  auto staged = any.build(candidate("fast"), {});
  REQUIRE(staged.artifact);
  CHECK(gate->judged == 0);
  CHECK(any.run(std::move(staged), {}).verdict == Verdict::ok);
  CHECK(gate->judged == 1);
  CHECK(!any.build(candidate("broken"), {}).artifact);
  CHECK(any.evaluate(candidate("broken"), {}).verdict == Verdict::build_failed);
  CHECK(any.evaluate(candidate("bug"), {}).verdict == Verdict::wrong_result);
  AnyEvaluator moved = std::move(any);
  CHECK(moved.evaluate(candidate("fast"), {}).measurement.seconds <
        moved.evaluate(candidate("slow"), {}).measurement.seconds);
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
