// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/history.hpp"

namespace kernelsearch {

/// What a generator made of one proposal: candidates, or the reason why there are none.
template <class Candidate>
struct Generation {
  std::vector<Candidate> candidates;
  std::string failure;         ///< used when there are no candidates
  bool applicable = true;      ///< used then too: false where what was proposed does not apply to its parent
  bool answered = true;        ///< used then too: false in an outage, which says nothing of what was proposed
  std::string rationale = {};  ///< the words that it went by, if any: Outcome::rationale of each trial
  /// Used without candidates: the right trial that the proposal led to again, which is kept as the
  /// feature `twin`.
  std::optional<TrialId> twin = {};

  [[nodiscard]] static Generation one(Candidate candidate) {
    Generation generation;
    generation.candidates.push_back(std::move(candidate));
    return generation;
  }
  [[nodiscard]] static Generation none(std::string reason) { return {{}, std::move(reason)}; }
  /// An answer and no failure: it draws no trial from the budget, and policies do not ask for it again.
  [[nodiscard]] static Generation not_applicable(std::string reason) {
    return {{}, std::move(reason), false};
  }
  /// An answer that leads to a kernel which is known and right: no trial, since nothing is to be measured.
  [[nodiscard]] static Generation known(TrialId twin, std::string reason) {
    Generation generation = not_applicable(std::move(reason));
    generation.twin = twin;
    return generation;
  }
  /// The maker of candidates could not be reached: it draws no trial from the budget, and no policy gives up
  /// what was proposed for it. `OptimizerOptions::unanswered_in_a_row` ends a long outage.
  [[nodiscard]] static Generation unanswered(std::string reason) {
    return {{}, std::move(reason), true, false};
  }
};

/// Turns proposals of one type into candidates.
///
/// 1. `G::Candidate` is what it makes, copyable.
/// 2. `generator.generate(proposal, history)` returns a `Generation`: one candidate, several, or none with a
///    reason, which may be that the proposal does not apply to its parent, or an outage. `history` holds the
///    trials told before the proposal was made (code, outcomes, tree); it may be called from several threads
///    at once when the optimizer is told to generate in parallel.
///
/// See docs/extending.md#generator.
template <class G, class Proposal>
concept GeneratorOf = std::copyable<typename G::Candidate> &&
    requires(G& generator, const Proposal& proposal, const History<typename G::Candidate>& history) {
  { generator.generate(proposal, history) } -> std::same_as<Generation<typename G::Candidate>>;
};

}  // namespace kernelsearch
