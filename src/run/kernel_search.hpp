// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "change_recorder.hpp"
#include "checkpoint_validation.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/optimizer/optimizer_options.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/store/result_cache.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "pause_gate.hpp"

namespace kernelsearch::detail {

using RunClock = std::chrono::steady_clock;
using RunKey = std::function<std::string(const Candidate&)>;
/// Measures, and remembers in the store what was measured.
using RunJudge = Cached<AnyEvaluator, RunKey, ResultCache>;

/// What every kind of search of a run is made with.
struct SearchContext {
  RunStore& store;
  RunId run{};
  Problem problem;
  RunBudget budget;
  RunLimits limits;      ///< of the whole run
  std::stop_token stop;  ///< someone wants the run to stop
  std::shared_ptr<TrialBudget> trials;
  FinalistValidator validate;
  std::string validated;                              ///< feature of finalists that it has no objection to
  std::stop_source ending;                            ///< that, or the end of the budget's time
  RunClock::time_point first_begun{};                 ///< of a new run: preparing it is in the budget too
  bool reuse = true;                                  ///< what earlier runs measured may be used
  std::shared_ptr<ChangeRecorder> changes = nullptr;  ///< keeps them for later runs; null: there are none
  CheckpointValidation checkpoints = {};              ///< of systems with a workflow
  std::function<std::string()> remarks = nullptr;     ///< on what measured, for the reason of the run's end
  std::function<void(bool)> finalists = nullptr;      ///< hears when comparing them begins and ends
  PairOptions pairs = FinalistSteps{}.pairs;          ///< of whatever is compared for people or models
  std::shared_ptr<PauseGate> gate = std::make_shared<PauseGate>();
};

/// What a run drives, whatever its policy proposes: over configurations or moves, or kernels that are handed
/// in.
struct KernelSearch {
  explicit KernelSearch(SearchContext c) : context(std::move(c)) {}
  virtual ~KernelSearch() = default;
  KernelSearch(const KernelSearch&) = delete;
  KernelSearch& operator=(const KernelSearch&) = delete;

  /// As Run::to_end and Run::step.
  virtual void to_end(RunObserver& observer) = 0;
  virtual StepReport step(const StepLimit& limit, RunObserver& observer) = 0;
  virtual std::optional<TrialId> submit(const Submission& submission, RunObserver& observer) = 0;
  virtual std::optional<Move> suggestion() { return std::nullopt; }
  virtual void decline(const std::string& reason, RunObserver& observer);
  virtual TuneReport tune(const TuneRequest& request, RunObserver& observer);
  /// A trial with its candidate as it was measured; ConfigError for one that is not there or has no code.
  [[nodiscard]] virtual Trial<Candidate> measured_trial(TrialId trial) const = 0;
  /// What measures, without what remembers.
  [[nodiscard]] virtual AnyEvaluator& measuring() = 0;
  /// Replaces what is known of a trial, in the store too.
  virtual void revise(TrialId trial, Evaluation evaluation, RunObserver& observer) = 0;
  [[nodiscard]] virtual std::vector<LearnedFrom> learned() { return {}; }

  /// Whether the run has had all of the time that it was given.
  [[nodiscard]] bool out_of_time() const {
    return context.budget.seconds && context.store.run(context.run).seconds >= *context.budget.seconds;
  }
  [[noreturn]] static void raise_spent();
  [[noreturn]] static void raise_no_trial(TrialId trial);

  SearchContext context;
  bool spent = false;
};

/// A search over the moves or configurations that its parts propose.
[[nodiscard]] std::unique_ptr<KernelSearch> make_search(SearchContext context, SystemSearch made,
                                                        RunJudge judge, OptimizerOptions loop);

/// Kernels that are handed in, and the policy over moves that suggests some.
[[nodiscard]] std::unique_ptr<KernelSearch> make_submit_search(SearchContext context,
                                                               const RunOptions& options, RunJudge judge,
                                                               OptimizerOptions loop);

}  // namespace kernelsearch::detail
