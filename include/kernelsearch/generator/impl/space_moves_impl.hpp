// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <unordered_set>
#include <utility>

#include "kernelsearch/generator/space_moves.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE SpaceMoves::SpaceMoves(Kernel kernel, SpaceStrategiesOptions options)
    : SpaceMoves(std::make_shared<const Kernel>(std::move(kernel)), std::move(options)) {}

KERNELSEARCH_INLINE SpaceMoves::SpaceMoves(std::shared_ptr<const Kernel> kernel,
                                           SpaceStrategiesOptions options)
    : kernel_(std::move(kernel)), strategies_(kernel_->space, std::move(options)) {}

KERNELSEARCH_INLINE std::vector<std::string> SpaceMoves::strategies() const {
  return strategies_.names();
}

KERNELSEARCH_INLINE Generation<Candidate> SpaceMoves::generate(const Move& move,
                                                               const History<Candidate>& history) const {
  std::vector<Config> parents;
  for (const TrialId parent : move.parents) {
    if (!history.contains(parent)) return Generation<Candidate>::none("a parent is not known");
    const Trial<Candidate> trial = history.find(parent);
    if (!trial.candidate) return Generation<Candidate>::none("a parent has no configuration");
    parents.push_back(trial.candidate->config);
  }
  std::unordered_set<Config> tried;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (const Trial<Candidate> trial = history[i]; trial.candidate) tried.insert(trial.candidate->config);
  std::optional<Config> config =
      strategies_.apply(move, parents, [&tried](const Config& c) { return tried.contains(c); });
  if (!config)
    return Generation<Candidate>::none("the move leads to no configuration that is valid and untried");
  return Generation<Candidate>::one({kernel_, *std::move(config)});
}

}  // namespace kernelsearch
