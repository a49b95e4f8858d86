// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// KernelBand v1 (arXiv 2511.18868): three clusters, c = 2, heads with buffers of 32, one question at
/// temperature 1 for a kernel, 10 iterations (20 where scaling is shown). HierarchicalUcbOptions{} and v2()
/// are the other choices of the search.
struct KernelBandSettings {
  HierarchicalUcbOptions search = HierarchicalUcbOptions::v1();  ///< no strategies: all that the problem has
  LlmRewriterOptions rewriter = {};
  OptimizerOptions loop = {};
};

/// KernelBand: a bandit over clusters of kernels and named strategies, each pull one rewrite by a model. With
/// `E` a Profiled evaluator its clusters and heads see the profile, else the measured times alone.
template <class E>
using KernelBand = Optimizer<HierarchicalUcb, LlmRewriter, E>;

/// Its policy and its generator, for whoever composes the loop otherwise.
[[nodiscard]] inline std::pair<HierarchicalUcb, LlmRewriter> kernelband_parts(
    AnyChatModel model, const Problem& problem, KernelBandSettings settings = {}) {
  LlmRewriter rewriter(std::move(model), problem, settings.rewriter);
  if (settings.search.strategies.empty()) settings.search.strategies = strategy_names(rewriter.strategies());
  return {HierarchicalUcb(settings.search), std::move(rewriter)};
}

template <class E>
[[nodiscard]] KernelBand<E> kernelband(AnyChatModel model, const Problem& problem, E evaluator,
                                       KernelBandSettings settings = {}) {
  auto [policy, generator] = kernelband_parts(std::move(model), problem, settings);
  return KernelBand<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
