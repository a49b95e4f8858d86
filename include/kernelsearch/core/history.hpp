// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// A candidate and what became of it.
template <class Candidate>
struct Trial {
  std::optional<Candidate> candidate;  ///< empty when the generator made none
  Outcome outcome;

  [[nodiscard]] bool ok() const noexcept { return outcome.ok(); }
  [[nodiscard]] const std::string& reason() const noexcept {
    return outcome.evaluation.reason;
  }  ///< of a failure
};

/// The trials of a run in the order in which they were told. One writer, any number of reading threads.
template <class Candidate>
class TrialLog {
 public:
  TrialLog();
  TrialLog(const TrialLog&) = delete;
  TrialLog& operator=(const TrialLog&) = delete;
  ~TrialLog();

  void append(Trial<Candidate> trial);

  /// Replaces the outcome of a known trial.
  void revise(const Outcome& outcome);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool contains(TrialId id) const;
  /// The `position`-th trial told. A copy, because the writer may revise it meanwhile.
  [[nodiscard]] Trial<Candidate> at(std::size_t position) const;
  [[nodiscard]] std::size_t position_of(TrialId id) const;
  [[nodiscard]] std::vector<TrialId> children(TrialId id) const;

  /// Unlocked access for the writing thread alone.
  [[nodiscard]] const Trial<Candidate>& own(TrialId id) const;
  [[nodiscard]] const std::deque<Trial<Candidate>>& own_trials() const noexcept { return trials_; }

 private:
  mutable std::shared_mutex mutex_;
  std::deque<Trial<Candidate>> trials_;
  std::unordered_map<std::uint64_t, std::size_t> position_;
  std::unordered_map<std::uint64_t, std::vector<TrialId>> children_;
};

template <class Candidate>
TrialLog<Candidate>::TrialLog() = default;
template <class Candidate>
TrialLog<Candidate>::~TrialLog() = default;

template <class Candidate>
void TrialLog<Candidate>::append(Trial<Candidate> trial) {
  std::unique_lock lock(mutex_);
  position_[number(trial.outcome.id)] = trials_.size();
  for (const TrialId parent : trial.outcome.parents) children_[number(parent)].push_back(trial.outcome.id);
  trials_.push_back(std::move(trial));
}

template <class Candidate>
void TrialLog<Candidate>::revise(const Outcome& outcome) {
  std::unique_lock lock(mutex_);
  trials_[position_.at(number(outcome.id))].outcome = outcome;
}

template <class Candidate>
std::size_t TrialLog<Candidate>::size() const {
  std::shared_lock lock(mutex_);
  return trials_.size();
}

template <class Candidate>
bool TrialLog<Candidate>::contains(TrialId id) const {
  std::shared_lock lock(mutex_);
  return position_.contains(number(id));
}

template <class Candidate>
Trial<Candidate> TrialLog<Candidate>::at(std::size_t position) const {
  std::shared_lock lock(mutex_);
  return trials_[position];
}

template <class Candidate>
std::size_t TrialLog<Candidate>::position_of(TrialId id) const {
  std::shared_lock lock(mutex_);
  return position_.at(number(id));
}

template <class Candidate>
std::vector<TrialId> TrialLog<Candidate>::children(TrialId id) const {
  std::shared_lock lock(mutex_);
  const auto found = children_.find(number(id));
  return found == children_.end() ? std::vector<TrialId>{} : found->second;
}

template <class Candidate>
const Trial<Candidate>& TrialLog<Candidate>::own(TrialId id) const {
  return trials_[position_.at(number(id))];
}

/// What a generator may read: the trials told before its proposal was made, and their tree. Later trials stay
/// hidden, so that what is generated does not depend on how fast others are measured.
template <class Candidate>
class History {
 public:
  History() = default;
  History(const TrialLog<Candidate>& log, std::size_t told) : log_(&log), told_(told) {}

  [[nodiscard]] std::size_t size() const noexcept { return told_; }

  /// The `position`-th trial told, `position < size()`.
  [[nodiscard]] Trial<Candidate> operator[](std::size_t position) const { return log_->at(position); }

  /// Whether the trial was told before the proposal was made.
  [[nodiscard]] bool contains(TrialId id) const {
    return log_ != nullptr && log_->contains(id) && log_->position_of(id) < told_;
  }

  /// The trial of that id, which `contains`.
  [[nodiscard]] Trial<Candidate> find(TrialId id) const { return log_->at(log_->position_of(id)); }

  [[nodiscard]] std::vector<TrialId> children(TrialId id) const {
    auto children = log_->children(id);
    std::erase_if(children, [this](TrialId child) { return !contains(child); });
    return children;
  }

 private:
  const TrialLog<Candidate>* log_ = nullptr;
  std::size_t told_ = 0;
};

}  // namespace kernelsearch
