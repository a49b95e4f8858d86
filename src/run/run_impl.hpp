// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "counted_evaluator.hpp"
#include "finalist_validator.hpp"
#include "kernel_search.hpp"
#include "kernelsearch/core/is_trial.hpp"
#include "kernelsearch/remote/remote_evaluator.hpp"
#include "kernelsearch/remote/slurm.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_lock.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "message_sink.hpp"
#include "process/kept_affinity.hpp"
#include "run_desk.hpp"
#include "run_models.hpp"
#include "stored_options.hpp"

namespace kernelsearch::detail {

struct RunImpl {
  std::unique_ptr<RunStore> owned;
  RunStore* store = nullptr;
  StoredOptions stored;
  std::optional<RunRow> resumed;
  Problem problem;
  RunBudget budget;
  RunId id{};
  int core = -1;  ///< that host kernels are measured on, to be left free by all else
  RunObserver* observer = nullptr;
  std::shared_ptr<MessageSink> messages = std::make_shared<MessageSink>();
  std::stop_source stop;    ///< someone wants the run to stop
  std::stop_source ending;  ///< that, or the end of the budget's time: what is under way is given up
  std::optional<std::stop_callback<std::function<void()>>> forward, forward_end;
  RunClock::time_point begun = RunClock::now();
  std::optional<RunModels> models;
  std::shared_ptr<ModelWatch> watch;  ///< where models are asked
  const SystemEntry* system = nullptr;
  RunReport report;
  RunProgressPages progress;
  bool progress_told = false;  ///< that it could not be written
  std::optional<DevicePeaks> peaks = {};
  std::filesystem::path report_folder;
  bool foreign = false;                               ///< what judges is not of this process
  std::map<std::string, Validation> validators = {};  ///< that were asked for, by the names of their tools
  std::optional<SlurmAllocation> slurm = {};          ///< outlives the workers in it
  std::optional<RemoteEvaluator> remote = {};         ///< where workers judge
  std::unique_ptr<KernelSearch> search;
  std::optional<RunLock> lock = {};  ///< tells others that this process works on it
  std::shared_ptr<PauseGate> gate = std::make_shared<PauseGate>();

  [[nodiscard]] RunOptions& options() { return stored.options; }
  [[nodiscard]] MessageTeller say() const {
    return [messages = messages](const std::string& text) { messages->tell(text); };
  }
};

/// Keeps this thread and what it starts off the measured core while a call lasts. A core below 0 means none.
class CoreLeft {
 public:
  explicit CoreLeft(int core) : before_(core >= 0) {
    if (before_.known()) leave_core_to_measuring(core);
  }

 private:
  KeptAffinity before_;
};

/// What holds while a call drives a run: messages go to its observer, and its thread keeps off the measured
/// core.
class Call {
 public:
  Call(RunImpl& run, RunObserver& observer)
      : run_(run),
        listening_(*run.messages, &observer),
        left_(run.core),
        pace_(pace_of(run)),
        desk_(RunControl(run.store->file(), run.id), pace_, run.messages, run.gate) {
    run_.messages->open();
  }
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void on_trial(const Trial<Candidate>& trial) {
    if (is_trial(trial.outcome.evaluation)) desk_.count();
    keep_spans(false);
  }

 private:
  /// Writes what was done when, about once a second or `now`.
  void keep_spans(bool now);
  [[nodiscard]] static RunPace pace_of(const RunImpl& run) {
    const RunRow row = run.store->run(run.id);
    return {run.budget.trials, run.budget.seconds, row.trials, row.seconds};
  }

  RunImpl& run_;
  Listening listening_;
  CoreLeft left_;
  RunPace pace_;
  double begun_ = steady_seconds(), kept_ = begun_, paused_before_ = run_.gate->seconds();
  RunDesk desk_;  ///< its thread keeps off that core, too
};

/// Begins a run of this problem, or raises before anything is in the store.
[[nodiscard]] std::unique_ptr<RunImpl> start_run(const Problem& problem, RunOptions options, RunParts parts);

/// Goes on with a stored one.
[[nodiscard]] std::unique_ptr<RunImpl> resume_run(std::string_view number_or_name, RunOptions options,
                                                  RunParts parts);

}  // namespace kernelsearch::detail
