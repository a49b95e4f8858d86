// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/evaluator.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// The least that is an Evaluator.
struct Archetype {
  Evaluation evaluate(const int&, const EvaluationContext&) { return Evaluation::succeeded(2.0); }
};
static_assert(Evaluator<Archetype, int>);
static_assert(!StagedEvaluator<Archetype, int>);
static_assert(!DrawsOwnBudget<Archetype>);
static_assert(!Evaluator<Archetype, std::string>);

/// The least that is a StagedEvaluator: what building leaves can only be moved.
struct StagedArchetype {
  using Artifact = std::unique_ptr<int>;
  Evaluation evaluate(const int& x, const EvaluationContext& context) {
    return evaluate_in_stages(*this, x, context);
  }
  Staged<Artifact> build(const int& x, const EvaluationContext&) {
    if (x == 0) return {Evaluation::failed(Verdict::build_failed, "zero"), std::nullopt};
    return {{}, std::make_unique<int>(x)};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) {
    return Evaluation::succeeded(**staged.artifact);
  }
  int lanes() const { return 1; }
};
static_assert(StagedEvaluator<StagedArchetype, int>);

struct CopiesArtifact : StagedArchetype {
  Evaluation run(const Staged<Artifact>&&, EvaluationContext&) { return {}; }  // wants to change the context
};
static_assert(!StagedEvaluator<CopiesArtifact, int>);

struct Drawing : Archetype {
  static constexpr bool draws_own_budget = true;
};
static_assert(DrawsOwnBudget<Drawing>);
struct NotDrawing : Archetype {
  static constexpr bool draws_own_budget = false;
};
static_assert(!DrawsOwnBudget<NotDrawing>);

}  // namespace

TEST_CASE("Evaluator: the archetypes run through the loop") {
  for (const std::size_t in_flight : {1, 3}) {
    Optimizer plain{
        scripted::Counting{.last = 4}, scripted::Copying{}, Archetype{}, {.in_flight = in_flight}};
    CHECK(plain.run().verdicts[static_cast<int>(Verdict::ok)] == 4);
    Optimizer staged{
        scripted::Counting{.last = 4}, scripted::Copying{}, StagedArchetype{}, {.in_flight = in_flight}};
    CHECK(staged.run().verdicts[static_cast<int>(Verdict::build_failed)] == 1);
    CHECK(*staged.best()->candidate == 1);
  }
}

TEST_CASE("evaluate_in_stages: what failed to build is not run") {
  StagedArchetype evaluator;
  CHECK(evaluator.evaluate(3, {}).measurement.seconds == 3.0);
  const Evaluation failed = evaluator.evaluate(0, {});
  CHECK(failed.verdict == Verdict::build_failed);
  CHECK(failed.reason == "zero");
}
