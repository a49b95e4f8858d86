// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/report/failures.hpp"
#include "kernelsearch/report/front.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/remembered_change.hpp"
#include "kernelsearch/store/run_span.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "kernelsearch/store/run_times.hpp"

namespace kernelsearch {

/// A question to a model with its reply.
struct ReportExchange {
  std::string role, model;
  std::vector<std::pair<std::string, std::string>> question;  ///< speaker and text of each message
  std::string reply;                                          ///< empty where there was none
  std::string error;                                          ///< why there was none
  std::uint64_t input_tokens = 0, output_tokens = 0;
  double seconds = 0.0;         ///< of waiting for it
  std::string kept;             ///< when: UTC, ISO 8601 with milliseconds; empty: not known
  std::optional<double> money;  ///< what it cost, where the price is known
  std::vector<TrialId> trials;  ///< whose kernels it gave; filled in by `report_of`
};

/// A validated step of a run that people or its workflow have named.
struct ReportCheckpoint {
  std::string name, parent;  ///< parent: a name; empty: the first
  TrialId trial{};
  std::string transformation, note;
  bool closed = false;              ///< no work goes on from it
  bool current = false;             ///< work goes on from here
  std::vector<std::string> tip_of;  ///< branches that end here
};

/// What a change taught an earlier run, which this run's prompts could show.
struct ReportMemory {
  std::int64_t number = 0;  ///< in the store
  std::vector<std::string> strategies;
  std::string device, limiter, at;
  Verdict verdict = Verdict::ok;
  std::optional<ChangeEffect> effect;
};

/// What a report shows that is not in the store.
struct ReportExtras {
  std::vector<ReportExchange> exchanges;
  std::optional<DevicePeaks> peaks;           ///< of the run's device
  std::vector<ReportCheckpoint> checkpoints;  ///< parents first
  std::vector<ReportMemory> memory;           ///< newest first
};

/// A tunable as it occurs among the trials of a run.
struct ReportTunable {
  std::string name;
  std::vector<std::string> values;  ///< that occurred, numbers by size and before the rest
  /// The share of what the settings explain that is lost without it, see `set_importance`; empty: unknown.
  std::optional<double> importance;
};

/// A trial as a report lists it.
struct ReportTrial {
  TrialId id{};
  Verdict verdict = Verdict::ok;
  double seconds = 0.0;  ///< meaningful when ok, like the next two
  Interval interval;
  std::optional<Speedup> speedup;
  std::optional<double> score;  ///< S of SOL-ExecBench
  double elapsed = 0.0;         ///< of the run, when it was told
  PhaseSeconds phases;
  double load = 0.0;        ///< see load_of
  std::vector<int> values;  ///< of each tunable, as a position in its list; -1: it has none
  std::vector<TrialId> parents;
  std::string kind;  ///< of the move that made it; empty for points of a space
  std::vector<std::string> strategies;
  std::string kernel;          ///< digest; empty where none was made
  std::string reason;          ///< of a failure, in a line
  bool unanswered = false;     ///< an outage: nobody made a candidate
  bool out_of_bounds = false;  ///< see shown_verdict
  /// What models had been paid until it was told: tokens in and out; money where every price is known.
  std::uint64_t tokens = 0;
  double money = 0.0;
};

/// What a report shows of a trial that is opened.
struct ReportDetail {
  TrialId id{};
  std::string reason;  ///< in full, up to 20000 bytes
  std::string provenance, rationale;
  std::vector<ShapeMeasurement> shapes;  ///< without their samples
  Features features;
  std::size_t inner_trials = 0;
};

/// What a strategy came to over the kernels that it was applied to.
struct StrategyEffect {
  std::string name;
  std::size_t tries = 0, right = 0, faster = 0;  ///< faster: surely, by the interval of their ratio
  std::optional<double> median, best;            ///< the parent's time divided by the child's
};

/// All that a report says of a run, as plain data: what the page, the pictures and the text are made of.
struct ReportModel {
  RunRow run;
  std::string summary;  ///< `run_summary`
  std::string no_improvement;
  RunTotals totals;
  std::optional<TrialId> winner;
  std::optional<FinalistComparison> finalists;
  ParetoFront front;  ///< objectives: none where the run went by the time alone
  std::vector<FailureGroup> failures;
  std::vector<ReportTunable> tunables;
  /// How much of the variance of the logarithm of the time a forest explains at trials that it never saw, up
  /// to 1; empty where there are too few to tell.
  std::optional<double> explained;
  std::vector<StrategyEffect> strategies;
  std::vector<ReportTrial> trials;    ///< in the order told
  std::vector<ReportDetail> details;  ///< of all trials, or of those that matter most where they are many
  std::vector<StoredKernel> kernels;
  std::vector<ReportExchange> exchanges;
  std::optional<DevicePeaks> peaks;
  std::vector<ReportCheckpoint> checkpoints;
  std::vector<ReportMemory> memory;
  std::optional<RunTimes> times;  ///< where its wall time went, by cause
  std::vector<RunSpan> spans;     ///< what was done when; empty where nobody wrote it down
};

struct ReportLimits {
  std::size_t details = 2000;                        ///< trials that can be opened with all that was measured
  std::size_t kernel_bytes = std::size_t{16} << 20;  ///< of code, the winner's first
  std::size_t exchange_bytes = std::size_t{16} << 20;  ///< of questions and replies
  std::size_t spans = 20'000;                          ///< bars of the timeline, the longest
};

/// The report of a stored run.
[[nodiscard]] ReportModel report_of(const RunStore& store, RunId run, ReportExtras extras = {},
                                    ReportLimits limits = {});

/// The same of trials that are in no store, such as those of a recording.
[[nodiscard]] ReportModel report_of(const RunRow& run, std::span<const StoredTrial> trials,
                                    ReportLimits limits = {});

/// How much each tunable matters: a random forest learns the logarithm of the time from half of the right
/// trials, and what its error at the other half grows by when the tunable's values there are shuffled is the
/// tunable's; both ways round, as shares of their sum (permutation importance, Breiman 2001). Returns how
/// much of the variance is explained at what was not learned from; nothing where there are fewer than 16
/// right trials or nothing varies, and no importance where nothing is explained.
std::optional<double> set_importance(std::vector<ReportTunable>& tunables,
                                     std::span<const ReportTrial> trials);

}  // namespace kernelsearch
