// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/space_moves.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "support/policy_contract.hpp"

using namespace kernelsearch;

namespace {

struct SpaceJudge {
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const double time = policy_contract::time_of(candidate.kernel->space, candidate.config);
    return std::isinf(time) ? Evaluation::failed(Verdict::crashed, "forbidden") : Evaluation::succeeded(time);
  }
};

}  // namespace

TEST_CASE("SpaceMoves: policies over moves run on a space through the loop, and find its best") {
  static_assert(GeneratorOf<SpaceMoves, Move>);
  const SpaceMoves moves(Kernel{{}, policy_contract::small_space()});
  CHECK(moves.strategies() == std::vector<std::string>{"block", "unroll", "pad", "layout"});
  Optimizer search(FlatUcb({.strategies = moves.strategies(), .seed = 1}), moves, SpaceJudge{},
                   {.budget = std::make_shared<TrialBudget>(150)});
  search.run();
  CHECK(search.best()->outcome.objective == 1.0);
  std::set<Config> seen;
  for (const auto& trial : search.trials())
    if (trial.candidate) CHECK(seen.insert(trial.candidate->config).second);
  CHECK(search.trials().front().candidate->config == policy_contract::small_space().default_config());
}

TEST_CASE("SpaceMoves: a stopped run goes on exactly where it was") {
  const SpaceMoves moves(Kernel{{}, policy_contract::small_space()});
  const auto make = [&](std::uint64_t trials) {
    return Optimizer(EpsilonGreedyTree({.strategies = moves.strategies(), .seed = 3}), moves, SpaceJudge{},
                     {.budget = std::make_shared<TrialBudget>(trials)});
  };
  const auto keys = [](const auto& search) {
    std::vector<std::string> result;
    for (const auto& trial : search.trials())
      result.push_back(trial.candidate ? trial.candidate->kernel->space.key(trial.candidate->config)
                                       : "none");
    return result;
  };
  struct Recorder {
    RunRecord<Candidate, Move> record;
    void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
    void on_trial(const Trial<Candidate>& trial, const Move& move) {
      record.events.emplace_back(ToldEvent<Candidate, Move>{trial, move});
    }
  };
  auto whole = make(60);
  whole.run();
  auto first = make(25);
  Recorder recorder;
  first.run(recorder);
  auto second = make(60);
  second.resume(recorder.record);
  second.run();
  CHECK(keys(second) == keys(whole));
}

TEST_CASE("SpaceMoves: the tree of one tunable ends when its values are used up") {
  const Space space = SpaceBuilder().add(Tunable::integer("only", 1, 5)).build();
  const SpaceMoves moves(Kernel{{}, space});
  struct Any {
    Evaluation evaluate(const Candidate&, const EvaluationContext&) const {
      return Evaluation::succeeded(1.0);
    }
  };
  Optimizer search(FlatUcb({.strategies = moves.strategies()}), moves, Any{});
  const RunSummary summary = search.run();
  CHECK(summary.reason == "the policy has nothing more to propose");
  CHECK(summary.verdicts[static_cast<int>(Verdict::ok)] == 5);
}
