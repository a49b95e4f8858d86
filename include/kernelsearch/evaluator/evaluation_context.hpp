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

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// A number of trials that several searches draw from, nested ones included. Thread-safe.
class TrialBudget {
 public:
  explicit TrialBudget(std::uint64_t trials = std::numeric_limits<std::uint64_t>::max()) noexcept
      : remaining_(trials) {}

  /// Takes one trial; false when none is left.
  bool take() noexcept {
    std::uint64_t left = remaining_.load();
    while (left != 0)
      if (remaining_.compare_exchange_weak(left, left - 1)) return true;
    return false;
  }

  [[nodiscard]] std::uint64_t remaining() const noexcept { return remaining_.load(); }

 private:
  std::atomic<std::uint64_t> remaining_;
};

/// A trial of a search inside an evaluation, reported to the outer run, which stores it under its parent.
struct InnerTrial {
  std::uint64_t number = 0;  ///< within its parent's evaluation, from 0
  std::string key;           ///< what was tried, e.g. `Space::key` of the configuration
  Evaluation evaluation;
};

/// What an evaluator is told besides the candidate. Everything is optional; evaluators use what they need.
struct EvaluationContext {
  TrialId trial{};                                   ///< the candidate's number
  std::optional<double> incumbent;                   ///< best objective so far, for stopping early
  std::stop_token stop;                              ///< asked to stop: give up and return what there is
  std::shared_ptr<TrialBudget> budget;               ///< shared with searches inside the evaluation
  std::function<void(const InnerTrial&)> on_inner;   ///< called for each inner trial, from any thread
};

}  // namespace kernelsearch
