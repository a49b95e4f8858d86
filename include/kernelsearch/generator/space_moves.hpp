// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
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
  explicit SpaceMoves(Kernel kernel, SpaceStrategiesOptions options = {});
  explicit SpaceMoves(std::shared_ptr<const Kernel> kernel, SpaceStrategiesOptions options = {});

  /// The names that its moves may use: give them to the policy.
  [[nodiscard]] std::vector<std::string> strategies() const;

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

 private:
  std::shared_ptr<const Kernel> kernel_;
  SpaceStrategies strategies_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/generator/impl/space_moves_impl.hpp"
#endif
