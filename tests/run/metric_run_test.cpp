// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "kernelsearch/report/front.hpp"
#include "kernelsearch/run/run.hpp"
#include "support/metric_problem.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

/// A run over both configurations of the problem, measured quickly; its number in the store.
RunId searched(RunStore& store, const std::string& objectives) {
  RunOptions options{.policy = "exhaustive", .objectives = objectives, .budget = "all"};
  options.learn = options.memory = false;
  options.bounds = false;
  RunParts parts;
  parts.store = &store;
  Run run = Run::start(support::metric_problem(), options, std::move(parts));
  run.to_end();
  (void)run.finish();
  return run.id();
}

}  // namespace

TEST_CASE("Run: a metric of the kernel's own is an objective") {
  const TemporaryFolder folder;
  RunStore store(folder.path() / "runs.db");
  const RunId run = searched(store, "time; steps");
  const auto best = best_trial_by(store, run, "steps");
  REQUIRE(best);
  CHECK(best->outcome.evaluation.features.find("objective.steps") == support::newton_steps);
  CHECK(settings_line(*best) == "NEWTON=true");
  CHECK(pareto_front_of(store, run).unchecked == std::vector<std::string>{"steps"});
}

TEST_CASE("Run: what was kept of a run that did not read a metric is not taken for one that does") {
  const TemporaryFolder folder;
  RunStore store(folder.path() / "runs.db");
  (void)searched(store, "time");
  const RunId run = searched(store, "time; mean");
  std::size_t right = 0;
  for (const StoredTrial& trial : store.trials(run)) {
    if (!trial.outcome.ok()) continue;
    ++right;
    CHECK(trial.outcome.evaluation.features.find("mean"));
  }
  CHECK(right == 2);
}
