// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/policy/space_strategies.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// Carries moves out on the space of one kernel, without a language model: a strategy is a named group of
/// tunables, a move a change within it (see SpaceStrategies). So policies over moves run on recorded spaces
/// and on any kernel with tunables. No candidate is made twice of those in the history; where a move leads to
/// nothing else, nothing is generated.
///
/// What is in flight is not in the history, so two proposals that are outstanding at once may meet in one
/// configuration; `Cached` makes that cheap, and `MovesOverSpace` avoids it.
class SpaceMoves {
 public:
  using Candidate = kernelsearch::Candidate;

  /// ConfigError as SpaceStrategies.
  explicit SpaceMoves(Kernel kernel, SpaceStrategiesOptions options = {})
      : SpaceMoves(std::make_shared<const Kernel>(std::move(kernel)), std::move(options)) {}
  explicit SpaceMoves(std::shared_ptr<const Kernel> kernel, SpaceStrategiesOptions options = {})
      : kernel_(std::move(kernel)), strategies_(kernel_->space, std::move(options)) {}

  /// The names that its moves may use: give them to the policy.
  [[nodiscard]] std::vector<std::string> strategies() const { return strategies_.names(); }

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const {
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

 private:
  std::shared_ptr<const Kernel> kernel_;
  SpaceStrategies strategies_;
};

}  // namespace kernelsearch
