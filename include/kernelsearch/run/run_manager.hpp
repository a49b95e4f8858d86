// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/root_folder.hpp"
#include "kernelsearch/run/run.hpp"

namespace kernelsearch {

/// What a client asks to be searched.
struct RunRequest {
  std::string problem = {};       ///< a problem folder or a problem.json, below the root
  std::string problem_text = {};  ///< or the JSON of one, whose files are below the root
  std::string name = {};          ///< of the run; empty: the problem's
  RunOptions options = {};        ///< how it is measured, and where it is stored, is the manager's to decide
};

/// One call on a run: whether the caller still wants it, and who hears how far it is.
struct RunCall {
  std::stop_token stop = {};
  RunObserver* observer = nullptr;
};

/// How runs are managed.
struct RunManagerOptions {
  std::filesystem::path root = ".";  ///< problems are read from below it, and from nowhere else
  MeasurementOptions measuring = {};
  std::size_t live = 4;  ///< runs that are kept open; the one unused longest is closed for another
  /// What judges a problem's kernels; `pairing`: every right one against the reference. Empty: this machine
  /// does.
  std::function<AnyEvaluator(Problem, const MeasurementOptions&, bool pairing)> evaluator = nullptr;
};

/// The runs of a store, by number, for several callers at once. Calls come from any thread; of one run one
/// works at a time, and of all runs only one measures at a time, since two would time each other. A run that
/// this process has not begun is opened from the store when it is asked for.
class RunManager {
 public:
  /// `store` outlives the manager. ConfigError where the root is not a folder.
  RunManager(RunStore& store, RunManagerOptions options);
  /// Stops what works, and waits for it.
  ~RunManager();
  RunManager(const RunManager&) = delete;
  RunManager& operator=(const RunManager&) = delete;

  /// Begins a run. Nothing is searched yet, except that of a `submit` run the problem's own kernel is
  /// measured. ConfigError for a problem, policy or budget that does not read; nothing if stopped before
  /// the run began.
  [[nodiscard]] std::optional<RunId> start(const RunRequest& request, const RunCall& call);

  /// What a run of this request would minimize or maximize. ConfigError for a problem or objectives that do
  /// not read.
  [[nodiscard]] Objectives objectives_of(const RunRequest& request) const;

  /// As in Run. ConfigError where another call works on the run.
  StepReport step(RunId run, const StepLimit& limit, const RunCall& call);
  std::optional<TrialId> submit(RunId run, const Submission& submission, const RunCall& call);
  void decline(RunId run, const std::string& reason, const RunCall& call);
  TuneReport tune(RunId run, const TuneRequest& request, const RunCall& call);
  std::optional<Speedup> compare(RunId run, TrialId trial, TrialId against, const RunCall& call);
  ProfileReport profile(RunId run, TrialId trial, const RunCall& call);
  ValidationReport validate(RunId run, TrialId trial, const std::string& tools, const RunCall& call);
  /// The move that the run's policy suggested when the last call on it in this process ended.
  [[nodiscard]] std::optional<Move> suggestion(RunId run) const;

  /// Stops what works on the run, waits for it, and gives its processes and devices back. The run can be
  /// continued. Whether anything was working.
  bool cancel(RunId run);

  /// What works on the run now: `step`, `submit_kernel`, ...; empty: nothing.
  [[nodiscard]] std::string doing(RunId run) const;

  /// The problem of a stored run. ConfigError where it is not below the root.
  [[nodiscard]] Problem problem_of(RunId run) const;

  /// The machine that a stored run is measured on, in words for a model.
  [[nodiscard]] std::string machine_of(RunId run) const;
  /// What the run's models are told of how its problem is measured; without peaks where it was begun without.
  [[nodiscard]] ProblemFacts facts_of(RunId run) const;

  [[nodiscard]] RunStore& store() noexcept;
  [[nodiscard]] const RunStore& store() const noexcept;
  [[nodiscard]] const RootFolder& root() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
