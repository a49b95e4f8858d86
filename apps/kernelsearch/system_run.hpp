// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "asked_models.hpp"
#include "interrupt.hpp"
#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/result_cache.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "plan.hpp"
#include "progress.hpp"

namespace kernelsearch::app {

/// Runs the system that the options name and returns the exit code.
int tune_system(Problem problem, Plan& plan, RunStore& store, const Interrupt& interrupt);

/// What was seen of candidates besides their times.
enum class Seen { times, counters, all };

/// Under what an evaluation is kept and found again: the candidate's content with what was seen of it, or
/// without `reuse` a key that no evaluation of this run or another one has.
std::function<std::string(const Candidate&)> result_key(std::shared_ptr<ResultCache> results, bool reuse,
                                                        Seen seen = Seen::times);

/// Measures on this machine and remembers what was measured.
using SystemJudge = Cached<AnyEvaluator, std::function<std::string(const Candidate&)>, ResultCache>;

/// What every system is run with.
struct SystemRun {
  const Plan& plan;
  const SystemEntry& system;
  const Problem& problem;
  RunStore& store;
  RunId run{};
  const Interrupt& interrupt;
  RunBudget budget;
  OptimizerOptions loop;
  AskedModels models;
  std::string device;  ///< facts of the hardware, for prompts
  FinalistValidator validate = nullptr;

  [[nodiscard]] const TuneOptions& options() const noexcept { return plan.options; }
};

/// Each starts one system of its kind by name, runs it, and says why it ended; whether anything right was
/// found is in the store.
RunSummary run_over_configs(SystemRun& run, SystemJudge judge);
RunSummary run_over_kernels(SystemRun& run, SystemJudge judge);
RunSummary run_peak(SystemRun& run, SystemJudge judge);
RunSummary run_skill(SystemRun& run, SystemJudge judge);

/// All of its kernels have the problem's space.
[[nodiscard]] KernelLookup lookup_for(const SystemRun& run);

/// What all generators that ask models are given.
[[nodiscard]] AgentOptions agents_of(const SystemRun& run);

/// The search of cuda_skill_v2 that the options ask for, or that a resumed run was begun with.
[[nodiscard]] RooflineBudgetOptions skill_search(const TuneOptions& options, const Problem& problem);

/// Of this machine's device for the problem; empty where they are not known.
[[nodiscard]] DevicePeaks peaks_of(const Problem& problem, int device = 0);

/// What a system's search needs to end as `tune` does: the evaluator that measures its best again.
struct PlainFinalists {
  template <class Search, class... Observers>
  void operator()(Search& search, const std::stop_token& stop, const FinalistSteps& steps,
                  Observers&... observers) const {
    measure_finalists_again(search, search.evaluator().inner(), stop, steps, observers...);
  }
};

/// The loop that all systems share here: resumed, recorded, shown, limited, its finalists measured again.
template <class Search, class Finalists = PlainFinalists>
RunSummary drive(Search search, SystemRun& run, const KernelLookup& lookup, Finalists finalists = {}) {
  using Proposal = typename Search::Proposal;
  const TuneOptions& o = run.options();
  if (run.plan.resumed)
    search.resume(load_record<Proposal>(run.store, run.run, CandidateCodec<Candidate>(lookup)));
  RunRecorder<Proposal> recorder(run.store, run.run, CandidateCodec<Candidate>(lookup));
  Progress progress(o.quiet, progress_options(run.budget, run.plan.resumed));
  RunLimits limits;
  limits.seconds = run.budget.seconds;
  if (o.target_speedup > 0) limits.speedup = o.target_speedup;
  if (o.no_gain > 0) limits.no_gain = o.no_gain;
  RunSummary summary = search.run(limits, recorder, progress);
  if (!run.interrupt.requested())
    finalists(search, run.interrupt.token(),
              {.tell =
                   [&o](TrialId id) {
                     if (!o.quiet) fmt::print(stderr, "measuring finalist {} again\n", number(id));
                   },
               .validate = run.validate},
              recorder, progress);
  progress.close();
  run.store.end_run(run.run, summary.reason, summary.seconds);
  summary.best = search.best() != nullptr ? std::optional(search.best()->outcome.id) : std::nullopt;
  return summary;
}

}  // namespace kernelsearch::app
