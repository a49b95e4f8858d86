// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/run_observer.hpp"
#include "kernelsearch/run/run_options.hpp"
#include "kernelsearch/run/trial_requests.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a run is given besides its options; all of it may be left out.
struct RunParts {
  std::optional<AnyEvaluator> evaluator = {};  ///< judges candidates in place of this machine's
  std::optional<AnyPolicy<Config>> policy =
      {};  ///< searches in place of the one that `RunOptions::policy` names
  /// The same, made of what is known once the run begins: the narrowed space, the seed, earlier runs.
  std::function<AnyPolicy<Config>(const PolicySetup&)> make_policy = nullptr;
  AnyChatModel model = {};    ///< is asked in place of those of the model file
  RunStore* store = nullptr;  ///< an open store, which outlives the run; RunOptions::store is ignored
  std::optional<Problem> problem = {};  ///< of a resumed run whose problem was not read from a file
  std::filesystem::path problem_path =
      {};  ///< where the problem was read from, to be read again when resumed
  /// Where `add_baseline` read from, for a new run: its problem has it, and a resumed one reads it again.
  std::filesystem::path baseline_path = {};
  std::string problem_text = {};    ///< the JSON that the problem was parsed from, kept for resuming
  std::stop_token stop = {};        ///< an outside wish to stop
  RunObserver* observer = nullptr;  ///< hears of it while the run is made and finished; outlives the run
};

/// When a step ends; the first that is reached. Without either it ends with the run's budget.
struct StepLimit {
  std::optional<std::uint64_t> trials = {};
  std::optional<double> seconds = {};
};

struct StepReport {
  std::uint64_t trials = 0;  ///< told in this step
  bool finished = false;     ///< the run's budget is spent, or the policy has no more to propose
  bool stopped = false;      ///< someone asked to stop
  std::string reason;        ///< why it ended
};

/// Code or settings from outside. What is not given is as in the parent.
struct Submission {
  std::optional<std::string> device = {}, host = {}, macros = {};  ///< whole regions
  std::vector<NamedValue> settings = {};                           ///< of tunables
  /// JSON as read_declared_tunables() takes it, of a kernel's own tunables besides the problem's; nothing:
  /// those that the macros declare, else the parent's.
  std::optional<std::string> tunables = {};
  /// Nothing: the suggested move's, else the best, else the problem's kernel.
  std::optional<TrialId> parent = {};
  std::vector<std::string> strategies = {};  ///< what was done, in names
  bool answers = false;                      ///< it carries out the suggested move
};

/// What a run came to.
struct RunResult {
  RunId run{};
  std::string reason;    ///< why it ended
  bool stopped = false;  ///< someone asked to stop
  RunRow row;            ///< as the store has it
  std::optional<StoredTrial>
      best;  ///< the winner (RunStore::best_trial); its measurement says how much faster and how sure
  std::string
      no_improvement;  ///< why the winner is not one over the reference or the default; empty: it is one
  /// The pairs in which the finalists were compared with each other, where they were.
  std::optional<FinalistComparison> finalists;
  std::vector<LearnedFrom> learned;  ///< from earlier runs
  /// Files that were written, by what they are: `source`, `settings`, `record`, `table`, `report`.
  std::vector<std::pair<std::string, std::filesystem::path>> files;
  /// Files that could not be written when the run ended, each as what, where and why.
  std::vector<std::string> unwritten;
  std::string models_text, models_json;  ///< what asking models came to; empty where none were asked
  /// That no model gave a reply of any use, of a system that needs one; empty otherwise.
  std::string no_reply;
};

/// What a stored run came to so far. Where a folder is given, the winner's files are written there; a table
/// of settings among them where all candidates are configurations of one kernel.
[[nodiscard]] RunResult stored_result(const RunStore& store, RunId run, const Problem& problem,
                                      const std::filesystem::path& out = {});

namespace detail {
struct RunImpl;
}

/// A search from its start to the winner's files: a problem, a policy or system, a budget and a store.
/// Everything told is in the store before a call returns, and a run that is resumed goes on where it was, in
/// this process or another.
///
/// One thread at a time, except `request_stop`. The thread that calls `step`, `to_end` or `submit` keeps off
/// the measured core while the call lasts, and so does everything that it starts.
class Run {
 public:
  /// Begins a run; nothing is searched yet. ConfigError for options, a problem or a machine that do not fit,
  /// before anything is in the store. DeviceError where there is no such device.
  [[nodiscard]] static Run start(const Problem& problem, RunOptions options = {}, RunParts parts = {});
  /// The same with the problem of a folder or a problem.json, which is read again when the run is resumed.
  [[nodiscard]] static Run start(const std::filesystem::path& problem, RunOptions options = {},
                                 RunParts parts = {});

  /// Goes on with a stored run: its number or name, or `latest`. What the run was begun with comes from the
  /// store; of `options` count the store, the budget where one is given, and what is not stored. ConfigError
  /// where the problem, the device or the toolchain has changed, or the policy does not repeat what is
  /// recorded.
  [[nodiscard]] static Run resume(std::string_view number_or_name, RunOptions options = {},
                                  RunParts parts = {});

  ~Run();
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;

  /// Lets the policy work until the limit, the run's budget or a stop. The best few are compared once the
  /// budget is spent. A run of kernels handed in measures the problem's own, the first time.
  template <class... Observers>
  StepReport step(const StepLimit& limit, Observers&... observers) {
    detail::RunObservers all(observers...);
    return step_told(limit, all);
  }

  /// Searches until the run's budget is spent, the policy ends or a stop is asked for, then compares the best
  /// few with each other in fresh processes (`choose_winner`); with a budget in seconds within that time.
  template <class... Observers>
  void to_end(Observers&... observers) {
    detail::RunObservers all(observers...);
    to_end_told(all);
  }

  /// Writes what the options ask for (the winner's files, the recording, a system's pages) and says what the
  /// run came to, also where a file cannot be written: that is then in `unwritten`. May be called again.
  RunResult finish();

  /// Has a kernel judged; its trial, or nothing where the run was stopped. Runs of policies over
  /// configurations take settings only. ConfigError for what does not read, or when the budget is spent.
  template <class... Observers>
  std::optional<TrialId> submit(const Submission& submission, Observers&... observers) {
    detail::RunObservers all(observers...);
    return submit_told(submission, all);
  }

  /// The move that the policy of a `submit` run suggests next; nothing in other runs.
  [[nodiscard]] std::optional<Move> suggestion();
  /// Turns the suggested move down; it counts as a trial without a candidate. ConfigError where there is
  /// none.
  template <class... Observers>
  void decline(const std::string& reason, Observers&... observers) {
    detail::RunObservers all(observers...);
    decline_told(reason, all);
  }

  /// Searches the tunables of one trial's kernel, its known configurations being known to the policy, in a
  /// run of kernels that are handed in. ConfigError for another run, a kernel with nothing to tune or a spent
  /// budget.
  template <class... Observers>
  TuneReport tune(const TuneRequest& request, Observers&... observers) {
    detail::RunObservers all(observers...);
    return tune_told(request, all);
  }

  /// The time of `against` divided by the trial's, in interleaved pairs; nothing where it was stopped.
  /// ConfigError for trials that are not right or the same, and where the evaluator cannot compare.
  template <class... Observers>
  std::optional<Speedup> compare(TrialId trial, TrialId against, Observers&... observers) {
    detail::RunObservers all(observers...);
    return compare_told(trial, against, all);
  }

  /// Looks into a right trial: place in the roofline, machine code, counters where this machine permits. What
  /// is found stays among the trial's features.
  template <class... Observers>
  ProfileReport profile(TrialId trial, Observers&... observers) {
    detail::RunObservers all(observers...);
    return profile_told(trial, all);
  }

  /// Runs validators on a right trial: of host kernels whether they keep within their arrays, of CUDA kernels
  /// the named tools of Compute Sanitizer (empty: memcheck, racecheck and initcheck). One that they object to
  /// loses its verdict.
  template <class... Observers>
  ValidationReport validate(TrialId trial, const std::string& tools, Observers&... observers) {
    detail::RunObservers all(observers...);
    return validate_told(trial, tools, all);
  }

  /// Ends what works on the run, from any thread; what was measured stays.
  void request_stop();
  /// A call was stopped midway, or a suggestion declined: resume the run to go on.
  [[nodiscard]] bool spent() const noexcept;

  [[nodiscard]] RunId id() const noexcept;
  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] const RunOptions& options() const noexcept;  ///< with what was left open filled in
  [[nodiscard]] const RunBudget& budget() const noexcept;
  [[nodiscard]] RunStore& store() noexcept;
  /// The run as it stood in the store when it was resumed; nothing for a new one.
  [[nodiscard]] const std::optional<RunRow>& resumed() const noexcept;

 private:
  explicit Run(std::unique_ptr<detail::RunImpl> impl);
  StepReport step_told(const StepLimit& limit, RunObserver& observer);
  void to_end_told(RunObserver& observer);
  std::optional<TrialId> submit_told(const Submission& submission, RunObserver& observer);
  void decline_told(const std::string& reason, RunObserver& observer);
  TuneReport tune_told(const TuneRequest& request, RunObserver& observer);
  std::optional<Speedup> compare_told(TrialId trial, TrialId against, RunObserver& observer);
  ProfileReport profile_told(TrialId trial, RunObserver& observer);
  ValidationReport validate_told(TrialId trial, const std::string& tools, RunObserver& observer);

  std::unique_ptr<detail::RunImpl> impl_;
};

}  // namespace kernelsearch
