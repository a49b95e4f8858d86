// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// Rewrites host kernels by rules, without a language model: a strategy is one of `source_strategies()`, a
/// move one of its edits of the device region's marked loops and functions (see source_edits.hpp). Tunables
/// keep their values. Nothing is generated where a strategy has no edit left whose text is new, and for
/// debug, ablation and recombination, which no rule knows how to make: give the policy `MoveLimits::debugs`
/// 0.
class SourceMoves {
 public:
  using Candidate = kernelsearch::Candidate;

  /// The kernel that a root move stands for, at its default configuration.
  explicit SourceMoves(Kernel kernel) : root_(std::make_shared<const Kernel>(std::move(kernel))) {}

  /// The names that its moves may use: give them to the policy.
  [[nodiscard]] static std::vector<std::string> strategies();

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

 private:
  std::shared_ptr<const Kernel> root_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/generator/impl/source_moves_impl.hpp"
#endif
