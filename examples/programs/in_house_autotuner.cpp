// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An autotuner of one's own around a run: our policies, store, finalists and winner's files; its evaluator.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

/// What the house tunes: a kernel that its own compiler builds and its own machine times. Here the machine is a
/// formula, so that the example runs anywhere; `build` and `run` are where a real one does its work.
struct HouseEvaluator {
  struct Artifact {
    int rows = 0, columns = 0;
  };
  Problem about;

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    const Space& space = candidate.kernel->space;
    const Artifact built{static_cast<int>(to_number(space.value(candidate.config, 0))),
                         static_cast<int>(to_number(space.value(candidate.config, 1)))};
    if (built.rows * built.columns > 8192)
      return {Evaluation::failed(Verdict::build_failed, "the tile does not fit the scratchpad"),
              std::nullopt};
    return {{}, built};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    const Artifact& tile = *staged.artifact;
    const double traffic = 1.0 / tile.rows + 1.0 / tile.columns;
    const double waste = 1e-6 * tile.rows * tile.columns;
    Evaluation evaluation = std::move(staged.evaluation);
    Evaluation timed = Evaluation::succeeded(1e-3 * (traffic + waste));
    timed.phases = evaluation.phases;
    return timed;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return "house accelerator, revision 2"; }
  [[nodiscard]] std::string toolchain_id() const { return "house compiler 7.1"; }
};

Problem house_problem() {
  Problem problem;
  problem.name = "house_matmul";
  problem.function = "matmul";
  problem.kernel.regions.device = "// the text that the house's compiler takes, with ROWS and COLUMNS\n";
  problem.kernel.space = SpaceBuilder()
                             .add(Tunable::power_of_two("ROWS", 1, 256))
                             .add(Tunable::power_of_two("COLUMNS", 1, 256))
                             .build();
  return problem;
}

/// Hears of every trial, on the thread that drives the run.
struct Counter {
  int failed = 0;
  void on_trial(const Trial<Candidate>& trial) { failed += trial.outcome.ok() ? 0 : 1; }
};

}  // namespace

int main() {
  const std::filesystem::path store =
      std::filesystem::temp_directory_path() / "kernelsearch_house" / "runs.db";
  std::filesystem::remove_all(store.parent_path());
  const Problem problem = house_problem();
  const auto parts = [&] {
    RunParts all;
    all.evaluator = HouseEvaluator{problem};
    all.problem = problem;
    return all;
  };

  // A first part of a run, as between two jobs of a cluster; every trial is in the store when `step` returns.
  std::int64_t id = 0;
  {
    Run run = Run::start(problem, {.budget = "40", .store = store}, parts());
    id = number(run.id());
    const StepReport report = run.step({.trials = 15});
    std::printf("%llu trials, %s\n", static_cast<unsigned long long>(report.trials), report.reason.c_str());
  }

  // Another process goes on where it was.
  Run run = Run::resume(std::to_string(id), {.store = store}, parts());
  Counter counter;
  run.to_end(counter);
  const RunResult result = run.finish();
  if (!result.best) return 1;
  std::printf("%llu trials, %s\nbest: ROWS,COLUMNS = %s, %.3f us\n",
              static_cast<unsigned long long>(result.row.trials), result.reason.c_str(),
              result.best->candidate->key.c_str(), 1e6 * result.best->outcome.objective);
  std::filesystem::remove_all(store.parent_path());
  return 0;
}
