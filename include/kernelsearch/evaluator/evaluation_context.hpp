// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// A number of trials that several searches draw from. Thread-safe. A nested search has a budget of its own
/// whose `parent` is the outer one: each trial is drawn from both.
class TrialBudget {
 public:
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  explicit TrialBudget(std::uint64_t trials = unlimited,
                       std::shared_ptr<TrialBudget> parent = nullptr) noexcept
      : remaining_(trials), parent_(std::move(parent)) {}

  /// Takes one trial; false when none is left here or above.
  bool take() noexcept {
    std::uint64_t left = remaining_.load();
    do {
      if (left == 0) return false;
    } while (!remaining_.compare_exchange_weak(left, left == unlimited ? left : left - 1));
    if (parent_ && !parent_->take()) {
      if (left != unlimited) remaining_.fetch_add(1);
      return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t remaining() const noexcept {
    const std::uint64_t own = remaining_.load();
    if (!parent_) return own;
    const std::uint64_t shared = parent_->remaining();
    return shared < own ? shared : own;
  }

 private:
  std::atomic<std::uint64_t> remaining_;
  std::shared_ptr<TrialBudget> parent_;
};

/// A trial of a search inside an evaluation, reported to the outer run, which stores it under its parent.
struct InnerTrial {
  std::uint64_t number = 0;  ///< within its parent's evaluation, from 0
  std::string key;           ///< what was tried, e.g. `Space::key` of the configuration
  Evaluation evaluation;
};

/// What an evaluator is told besides the candidate. Everything is optional; evaluators use what they need.
struct EvaluationContext {
  TrialId trial{};                                  ///< the candidate's number; none outside of a search
  std::optional<double> incumbent;                  ///< best time so far, for stopping early
  std::stop_token stop;                             ///< asked to stop: give up and return what there is
  std::shared_ptr<TrialBudget> budget;              ///< shared with searches inside the evaluation
  std::function<void(const InnerTrial&)> on_inner;  ///< called for each inner trial, from any thread
  std::vector<TrialId> parents;                     ///< the trials that the proposal names; see parents_of
  bool finalist = false;                            ///< judged once more, for figures that people are told
  /// For a finalist, the seconds of the next best trial. A finalist that turns out slower may go without
  /// pairs with the reference, which it tells by the feature `unpaired`.
  std::optional<double> rival;
  /// Hears where the candidate is measured, e.g. `core 3`, once that is free and before it is checked; in the
  /// thread that evaluates.
  std::function<void(std::string_view place)> on_place = nullptr;

  /// Whether the candidate is a trial of a search; others, such as finalists, are judged for their own sake.
  [[nodiscard]] bool in_search() const noexcept { return trial != TrialId{}; }

  void measured_on(std::string_view place) const {
    if (on_place) on_place(place);
  }
};

}  // namespace kernelsearch
