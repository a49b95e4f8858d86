// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/tuned.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "support/scripted_kernels.hpp"

using namespace kernelsearch;
using namespace scripted;

namespace {
const auto exhaustive = [](const Space& space, std::uint64_t) { return Exhaustive(space); };
}

TEST_CASE("Tuned: the outcome is the inner best, and says where it lies") {
  Tuned tuned(exhaustive, KernelLandscape{});
  const Evaluation evaluation = tuned.evaluate(kernel_with({"tiling"}), {});
  CHECK(evaluation.verdict == Verdict::ok);
  CHECK(evaluation.measurement.seconds == 50.0);
  CHECK(evaluation.tuned_key == "16,2");
  CHECK(evaluation.features.find("inner_trials") == 28.0);
}

TEST_CASE("Tuned: inner trials are reported in order and limited by both budgets") {
  Tuned tuned(exhaustive, KernelLandscape{}, TunedOptions{.max_trials = 10});
  std::vector<std::uint64_t> numbers;
  EvaluationContext context;
  context.budget = std::make_shared<TrialBudget>(14);
  context.on_inner = [&numbers](const InnerTrial& inner) { numbers.push_back(inner.number); };
  CHECK(tuned.evaluate(kernel_with({}), context).verdict == Verdict::ok);
  CHECK(numbers.size() == 10);
  CHECK(numbers.back() == 9);
  CHECK(tuned.evaluate(kernel_with({}), context).verdict == Verdict::ok);
  CHECK(numbers.size() == 14);
  const Evaluation none = tuned.evaluate(kernel_with({}), context);
  CHECK(none.verdict == Verdict::rejected);
  CHECK(none.reason == "no configuration was tried: the trial budget is spent");
}

TEST_CASE("Tuned: a kernel that is wrong everywhere is as wrong as its best configuration") {
  Tuned tuned(exhaustive, KernelLandscape{});
  const Evaluation evaluation = tuned.evaluate(kernel_with({"bug"}), {});
  CHECK(evaluation.verdict == Verdict::wrong_result);
  CHECK(evaluation.progress == 0.625);
}

TEST_CASE("Tuned: over a cache, an interrupted inner search takes up where it was") {
  const auto key = [](const Candidate& c) {
    return c.kernel->regions.device + c.kernel->space.key(c.config);
  };
  auto cache = std::make_shared<MemoryCache>();
  KernelLandscape landscape;
  using Inner = Cached<KernelLandscape, decltype(key)>;
  EvaluationContext context;
  context.budget = std::make_shared<TrialBudget>(12);
  Tuned(exhaustive, Inner(landscape, key, cache)).evaluate(kernel_with({"tiling"}), context);
  CHECK(*landscape.evaluations == 12);
  const Evaluation whole =
      Tuned(exhaustive, Inner(landscape, key, cache)).evaluate(kernel_with({"tiling"}), {});
  CHECK(whole.measurement.seconds == 50.0);
  CHECK(*landscape.evaluations == 28);  // the first twelve were not measured again
}

TEST_CASE("Tuned: a resumed run has the budget that its inner searches have left") {
  struct Recorded {
    RunRecord<Candidate, Move> record;
    void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
    void on_trial(const Trial<Candidate>& trial, const Move& move) {
      record.events.emplace_back(ToldEvent<Candidate, Move>{trial, move});
    }
    void on_inner(TrialId, const InnerTrial&) { ++record.inner_trials; }
  };
  const auto search = [](std::uint64_t trials) {
    return Optimizer(BestOfK({.k = 100}), ScriptedRewriter{},
                     Tuned(exhaustive, KernelLandscape{}, TunedOptions{.max_trials = 5}),
                     {.budget = std::make_shared<TrialBudget>(trials)});
  };
  Recorded first, second, whole;
  (void)search(10).run(first);
  CHECK(first.record.inner_trials == 10);
  auto resumed = search(20);
  resumed.resume(first.record);
  (void)resumed.run(second);
  (void)search(20).run(whole);
  CHECK(whole.record.inner_trials == 20);
  CHECK(second.record.inner_trials == 10);
}
