// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/store/finalist_comparison.hpp"
#include "kernelsearch/store/remembered_change.hpp"
#include "kernelsearch/store/run_info.hpp"
#include "kernelsearch/store/run_span.hpp"
#include "kernelsearch/store/run_times.hpp"
#include "kernelsearch/store/store_error.hpp"
#include "kernelsearch/store/stored_trial.hpp"

namespace kernelsearch {

/// How safely a store writes.
struct StoreOptions {
  /// false: what was told survives the death of the process at any moment, but a power loss may take the last
  /// trials with it (never more than those, and never the file). true: it survives a power loss too, at the
  /// price of waiting for the disk on every trial.
  bool sync_every_trial = false;
  double busy_seconds = 30.0;  ///< wait this long for another process that is writing
  /// Every call that changes the store is a StoreError, and the file, which is there, and its folder may be
  /// read-only: then it is read as it is now, and what others write later is not seen.
  bool only_read = false;
};

/// Runs, trials and results in one SQLite file (schema: docs/formats/store.md). Several processes may use
/// the file at once, and several threads one object. A call that changes the store is one transaction: done
/// when it returns, or not at all. Everything that fails is a StoreError.
///
/// A run is written by `RunRecorder` and read back for `Optimizer::resume` by `load_record`.
class RunStore {
 public:
  /// The version of the schema that this library writes.
  static constexpr int schema_version = 7;

  /// Opens the file, creating it and its folder when absent. A newer schema is refused, an older one is
  /// brought up to date.
  explicit RunStore(const std::filesystem::path& file, StoreOptions options = {});
  ~RunStore();
  RunStore(RunStore&&) noexcept;
  RunStore& operator=(RunStore&&) noexcept;

  /// `$KERNELSEARCH_STORE`, else `$XDG_DATA_HOME/kernelsearch/runs.db`, else
  /// `~/.local/share/kernelsearch/runs.db`.
  [[nodiscard]] static std::filesystem::path default_path();

  [[nodiscard]] const std::filesystem::path& file() const noexcept;

  RunId begin_run(const RunInfo& info);
  /// Marks a stopped run as running again.
  void continue_run(RunId run);
  void end_run(RunId run, std::string_view reason, double seconds);
  /// Adds to where the wall time of a run went.
  void add_times(RunId run, const RunTimes& times);
  /// Adds to what the run did when.
  void add_spans(RunId run, std::span<const RunSpan> spans);
  /// Removes a run with its trials; kernels, results and remembered changes stay.
  void remove_run(RunId run);

  /// Writes what happened since the last call, in order: the asks, then the told trial. `kernel` is the text
  /// of the trial's kernel; it is kept once however often it is given.
  void add_trial(RunId run, std::span<const AskEvent> asks, const StoredTrial& trial,
                 const std::optional<StoredKernel>& kernel = std::nullopt);
  void add_asks(RunId run, std::span<const AskEvent> asks);
  void add_revision(RunId run, std::span<const AskEvent> asks, const Outcome& outcome);
  /// Writes down a change of the run's checkpoints, which the policy hears of at this place when it is
  /// resumed.
  void add_checkpoint_edit(RunId run, std::string_view edit);
  /// Says which trial won when the best few were compared with each other; replaces an earlier comparison.
  void set_finalists(RunId run, const FinalistComparison& comparison);
  /// Replaces an inner trial of the same parent and number.
  void add_inner(RunId run, TrialId parent, const InnerTrial& trial);

  [[nodiscard]] std::vector<RunRow> runs(const RunFilter& filter = {}) const;  ///< newest first
  [[nodiscard]] RunRow run(RunId run) const;
  /// By number, or the newest of that name; `latest` is the newest of all.
  [[nodiscard]] std::optional<RunRow> find_run(std::string_view number_or_name) const;
  /// In the order told.
  [[nodiscard]] std::vector<StoredTrial> trials(RunId run) const;
  void each_trial(RunId run, const std::function<void(const StoredTrial&)>& use) const;
  [[nodiscard]] std::optional<StoredTrial> trial(RunId run, TrialId id) const;
  /// The winner, and the only place that says which trial it is: the one that the comparison of finalists
  /// chose, unless it has lost its verdict or a trial told since has a lower objective; else the lowest
  /// objective, the first told of equals.
  [[nodiscard]] std::optional<StoredTrial> best_trial(RunId run) const;
  /// The comparison of the run's finalists; nothing where there was none, as in older stores.
  [[nodiscard]] std::optional<FinalistComparison> finalists(RunId run) const;
  /// Where its wall time went; nothing of runs of earlier versions and of those that were killed.
  [[nodiscard]] std::optional<RunTimes> times(RunId run) const;
  /// What it did when, in the order of beginning: the `most` longest. Empty for runs of earlier versions.
  [[nodiscard]] std::vector<RunSpan> spans(RunId run,
                                           std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  [[nodiscard]] std::vector<StoredInnerTrial> inner_trials(RunId run,
                                                           std::optional<TrialId> parent = {}) const;
  /// The searches over the tunables of a kernel of this text, whatever its digest, that other runs of the
  /// same problem on the same device and toolchain had finished when `run` began; the newest first.
  [[nodiscard]] std::vector<StoredTuning> earlier_tunings(RunId run, const StoredKernel& text,
                                                          std::size_t limit = 4) const;
  [[nodiscard]] std::vector<StoredEvent> events(RunId run) const;
  [[nodiscard]] std::optional<StoredKernel> kernel(std::string_view digest) const;

  /// What `ResultCache` keeps: an evaluation under the digest of all that it depends on.
  [[nodiscard]] std::optional<StoredResult> find_result(std::string_view content_key) const;
  void put_result(std::string_view content_key, std::string_view device, const Evaluation& evaluation);

  /// Remembers a change for later runs, without a time as of now. One of that id is replaced and keeps its
  /// number.
  void put_change(RememberedChange change);
  /// Adds those whose ids are not known yet, all or none; how many that were.
  std::size_t import_changes(std::span<const RememberedChange> changes);
  /// Newest first.
  [[nodiscard]] std::vector<StoredChange> changes(const ChangeFilter& filter = {}) const;
  [[nodiscard]] std::optional<StoredChange> change(std::int64_t number) const;
  [[nodiscard]] std::optional<StoredChange> change_of_id(std::string_view id) const;
  /// The number of the newest; 0 where there is none.
  [[nodiscard]] std::int64_t last_change() const;
  /// Removes those of these numbers; how many there were.
  std::size_t forget_changes(std::span<const std::int64_t> numbers);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
