// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/optimizer/observer.hpp"

namespace kernelsearch {

/// A trial as it was told; `proposal` is needed for trials from outside only, the policy repeats its own.
template <class Candidate, class Proposal>
struct ToldEvent {
  Trial<Candidate> trial;
  std::optional<Proposal> proposal;
};

/// A told trial was told again with a new outcome.
struct RevisedEvent {
  Outcome outcome;
};

/// Everything a policy went through, in order. Replaying it brings a fresh policy to the same state
/// (hard case 10 of the architecture: the order in which outcomes were told is part of the record).
template <class Candidate, class Proposal>
struct RunRecord {
  std::vector<std::variant<AskEvent, ToldEvent<Candidate, Proposal>, RevisedEvent>> events;
  double seconds = 0.0;  ///< wall time that the recorded part took
  /// Trials that searches inside the told evaluations took of the budget, where the evaluator draws its own.
  std::uint64_t inner_trials = 0;
};

}  // namespace kernelsearch
