// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/generator/source_moves.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"

using namespace kernelsearch;

namespace {

Kernel small() {
  Kernel kernel;
  kernel.regions.device =
      "// function: f\nvoid f(int n, float* y) {\n// loop: i\nfor (int i = 0; i < n; ++i) y[i] = y[i] + "
      "1;\n}\n";
  return kernel;
}

/// Likes short kernels, and none that is aligned.
struct Judge {
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const std::string& text = candidate.kernel->regions.device;
    if (text.find("aligned(y") != std::string::npos)
      return Evaluation::failed(Verdict::crashed, "not aligned");
    return Evaluation::succeeded(static_cast<double>(text.size()));
  }
};

}  // namespace

TEST_CASE("SourceMoves: every candidate is a new text, made from its parent by an edit") {
  static_assert(GeneratorOf<SourceMoves, Move>);
  Optimizer search(
      EpsilonGreedyTree({.strategies = SourceMoves::strategies(), .seed = 2, .limits = {.debugs = 0}}),
      SourceMoves(small()), Judge{}, {.budget = std::make_shared<TrialBudget>(60)});
  const RunSummary summary = search.run();
  std::set<std::string> texts;
  for (const auto& trial : search.trials()) {
    if (!trial.candidate) continue;
    CHECK(texts.insert(trial.candidate->kernel->regions.device).second);
    for (const TrialId parent : trial.outcome.parents) CHECK(search.log().own(parent).candidate.has_value());
  }
  CHECK(texts.size() > 10);
  CHECK(summary.verdicts[static_cast<int>(Verdict::crashed)] > 0);
}

TEST_CASE("SourceMoves: what no rule can do is not generated, with a reason") {
  const SourceMoves moves(small());
  CHECK(moves.generate(Move{}, {}).candidates.size() == 1);
  CHECK(moves.generate({MoveKind::debug, {TrialId{0}}, {}}, {}).failure.find("kind debug") !=
        std::string::npos);
  CHECK(moves.generate({MoveKind::rewrite, {TrialId{0}}, {"tile"}}, {}).failure == "the parent is not known");
  TrialLog<Candidate> log;
  log.append({moves.generate(Move{}, {}).candidates.front(), Outcome{}});
  const History<Candidate> history(log, 1);
  CHECK(moves.generate({MoveKind::rewrite, {TrialId{0}}, {"interchange"}}, history).failure ==
        "no new place for interchange");
  CHECK(moves.generate({MoveKind::rewrite, {TrialId{0}}, {}}, history).failure ==
        "the move names no strategy");
  const auto both = moves.generate({MoveKind::rewrite, {TrialId{0}}, {"restrict", "unroll"}, 1}, history);
  REQUIRE(both.candidates.size() == 1);
  const std::string& text = both.candidates.front().kernel->regions.device;
  CHECK(text.find("__restrict") != std::string::npos);
  CHECK(text.find("i + 3") != std::string::npos);  // the second of its factors
}
