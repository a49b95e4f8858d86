// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unordered_set>

#include "kernelsearch/generator/source_edits.hpp"
#include "kernelsearch/generator/source_moves.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::vector<std::string> SourceMoves::strategies() {
  return source_strategies();
}

KERNELSEARCH_INLINE Generation<Candidate> SourceMoves::generate(const Move& move,
                                                                const History<Candidate>& history) const {
  using Made = Generation<Candidate>;
  if (move.kind == MoveKind::root) return Made::one({root_, root_->space.default_config()});
  if (move.kind != MoveKind::rewrite && move.kind != MoveKind::branch)
    return Made::none("no rule makes a move of kind " + std::string(to_string(move.kind)));
  if (move.parents.size() != 1 || !history.contains(move.parents.front()))
    return Made::none("the parent is not known");
  const Trial<Candidate> parent = history.find(move.parents.front());
  if (!parent.candidate) return Made::none("the parent has no code");

  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (const Trial<Candidate> trial = history[i]; trial.candidate)
      seen.insert(trial.candidate->kernel->regions.device);
  Kernel kernel = *parent.candidate->kernel;
  const std::size_t strategies = move.strategies.size();
  for (std::size_t s = 0; s < strategies; ++s) {
    const std::vector<SourceEdit> edits = source_edits(kernel.regions.device, move.strategies[s]);
    // Where several strategies are joined, only the last one must lead to something new.
    const bool last = s + 1 == strategies;
    std::size_t taken = edits.size();
    for (std::size_t i = 0; i < edits.size() && taken == edits.size(); ++i) {
      const std::size_t at = (i + move.variant) % edits.size();
      if (!last || !seen.contains(edits[at].source)) taken = at;
    }
    if (taken == edits.size()) return Made::none("no new place for " + move.strategies[s]);
    kernel.regions.device = edits[taken].source;
  }
  if (strategies == 0) return Made::none("the move names no strategy");
  return Made::one({std::make_shared<const Kernel>(std::move(kernel)), parent.candidate->config});
}

}  // namespace kernelsearch
