// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/llm/redactor.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::detail {

/// Who was asked last for each move, and whether there was a reply. Thread-safe.
class AskedMoves {
 public:
  struct Asked {
    std::string prompt, prompt_version, model;
    bool answered = false;
  };

  void add(const Exchange& exchange);
  /// By the move; else by its strategies, where those who asked did not know the parents.
  [[nodiscard]] std::optional<Asked> find(const Move& move) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Asked> asked_;
};

/// What a run's changes have in common.
struct ChangeSource {
  RunRow run;
  Problem problem;
  std::vector<std::string> traits;
  std::optional<DevicePeaks> peaks;
  Redactor redactor;
};

/// Keeps every trial that has a parent as a change for later runs. It stands before the recorder of the run:
/// a run that is killed between the two tells the trial again, under the same id, which replaces what was
/// kept. Nothing is kept of proposals that were not asked or not answered: those say nothing of a change.
class ChangeRecorder {
 public:
  using Find = std::function<const Trial<Candidate>*(TrialId)>;

  ChangeRecorder(RunStore& store, ChangeSource source, std::shared_ptr<const AskedMoves> asked)
      : store_(&store), source_(std::move(source)), asked_(std::move(asked)) {}

  /// `find` knows the trials that were told before.
  void on_trial(const Trial<Candidate>& trial, const Move& move, const Find& find);
  /// What was kept gets the outcome that is known now.
  void on_revised(const Trial<Candidate>& trial, const Find& find);

  /// The id of what a trial of this run is kept as, the same on resuming.
  [[nodiscard]] std::string id_of(TrialId trial) const;

 private:
  void judge(RememberedChange& change, const Outcome& parent, const Outcome& child) const;

  RunStore* store_;
  ChangeSource source_;
  std::shared_ptr<const AskedMoves> asked_;
};

/// The observer of a search over `P`: one that remembers moves, and nothing of configurations.
template <class P>
struct Remembering {
  ChangeRecorder* recorder = nullptr;  ///< null: nothing is remembered
  ChangeRecorder::Find find;
  void on_trial(const Trial<Candidate>& trial, const P& proposal) const {
    if constexpr (std::same_as<P, Move>)
      if (recorder != nullptr) recorder->on_trial(trial, proposal, find);
  }
  void on_revised(const Trial<Candidate>& trial) const {
    if constexpr (std::same_as<P, Move>)
      if (recorder != nullptr) recorder->on_revised(trial, find);
  }
};

/// An observer of this search.
template <class P, class Search>
[[nodiscard]] Remembering<P> remembering(ChangeRecorder* recorder, const Search& search) {
  return {recorder, [&search](TrialId id) -> const Trial<Candidate>* {
            return search.log().contains(id) ? &search.log().own(id) : nullptr;
          }};
}

}  // namespace kernelsearch::detail
