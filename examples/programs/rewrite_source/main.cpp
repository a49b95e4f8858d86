// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// STARK's tree search makes a plain kernel faster by rules, on this machine and without a language model.
//
//     example_rewrite_source PROBLEM [TRIALS]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/kernelsearch.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: example_rewrite_source PROBLEM [TRIALS]\n");
    return 2;
  }
  const Problem problem = read_problem(argv[1]);
  HostOptions options;
  options.sampling.budget_seconds = 0.1;
  options.pairs.when = Pairing::never;
  EpsilonGreedyTree policy({.strategies = SourceMoves::strategies(),
                            .seed = 1,
                            .root_children = 12,
                            .limits = {.max_failures = 2, .debugs = 0}});
  Optimizer search{std::move(policy), SourceMoves(problem.kernel), HostEvaluator(problem, options)};
  search.run(MaxTrials{argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 120});

  const auto* best = search.best();
  if (best == nullptr) {
    std::fprintf(stderr, "not even the plain kernel is right: %s\n",
                 search.trials().front().outcome.evaluation.reason.c_str());
    return 1;
  }
  const double plain = search.trials().front().outcome.objective;
  for (const auto& trial : search.trials()) {
    if (trial.outcome.parents.empty() || !trial.candidate) continue;
    const Evaluation& evaluation = trial.outcome.evaluation;
    std::printf("trial %2d of parent %2d: %.*s", static_cast<int>(number(trial.outcome.id)),
                static_cast<int>(number(trial.outcome.parents.front())),
                static_cast<int>(to_string(evaluation.verdict).size()), to_string(evaluation.verdict).data());
    if (trial.outcome.ok()) std::printf(", %.1f x", plain / trial.outcome.objective);
    std::printf("\n");
  }
  std::printf("right and %.1f times as fast as the plain kernel:\n%s", plain / best->outcome.objective,
              best->candidate->kernel->regions.device.c_str());
}
