// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/repaired.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

struct BestOfKSettings {
  /// k = 16: STARK and KernelBand give their baselines as many tries as they have. Failures do not end it,
  /// because the samples are independent.
  BestOfKOptions search = {.limits = {.max_failures = 1000}};
  LlmRewriterOptions rewriter = {};
  std::size_t repairs = 1;  ///< questions that repair a kernel that failed; ours, 0 for the papers' behaviour
  OptimizerOptions loop = {};
};

/// The baseline of the papers' tables: K rewrites of the problem's kernel, of which the fastest counts.
template <class E>
using BestOfK = Optimizer<Repaired<kernelsearch::BestOfK>, LlmRewriter, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<Repaired<kernelsearch::BestOfK>, LlmRewriter> best_of_k_parts(
    AnyChatModel model, const Problem& problem, BestOfKSettings settings = {}) {
  return {Repaired(kernelsearch::BestOfK(settings.search), settings.repairs),
          LlmRewriter(std::move(model), problem, settings.rewriter)};
}

template <class E>
[[nodiscard]] BestOfK<E> best_of_k(AnyChatModel model, const Problem& problem, E evaluator,
                                   BestOfKSettings settings = {}) {
  auto [policy, generator] = best_of_k_parts(std::move(model), problem, settings);
  return BestOfK<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
