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
  std::string failure;  ///< used when there are no candidates

  [[nodiscard]] static Generation one(Candidate candidate) {
    Generation generation;
    generation.candidates.push_back(std::move(candidate));
    return generation;
  }
  [[nodiscard]] static Generation none(std::string reason) { return {{}, std::move(reason)}; }
};

/// Turns proposals of one type into candidates.
///
/// 1. `G::Candidate` is what it makes, copyable.
/// 2. `generator.generate(proposal, history)` returns a `Generation`: one candidate, several, or none with a
///    reason. `history` holds the trials told before the proposal was made (code, outcomes, tree); it may be
///    called from several threads at once when the optimizer is told to generate in parallel.
///
/// See docs/extending.md#generator.
template <class G, class Proposal>
concept GeneratorOf = std::copyable<typename G::Candidate> &&
    requires(G& generator, const Proposal& proposal, const History<typename G::Candidate>& history) {
  { generator.generate(proposal, history) } -> std::same_as<Generation<typename G::Candidate>>;
};

}  // namespace kernelsearch
