// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/repaired.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

struct GreedyRefineSettings {
  BeamOptions search = {
      .width = 1, .branch = 1, .limits = {.max_failures = 3}};  ///< the best kernel, again and again
  LlmRewriterOptions rewriter = {};
  std::size_t repairs = 1;  ///< questions that repair a kernel that failed; ours, 0 for the papers' behaviour
  OptimizerOptions loop = {};
};

/// The plain loop that most agents are: the best kernel so far is rewritten, and kept if it is faster; one
/// that fails is repaired only while there is no right one.
template <class E>
using GreedyRefine = Optimizer<Repaired<Beam>, LlmRewriter, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<Repaired<Beam>, LlmRewriter> greedy_refine_parts(
    AnyChatModel model, const Problem& problem, GreedyRefineSettings settings = {}) {
  return {Repaired(Beam(settings.search), settings.repairs),
          LlmRewriter(std::move(model), problem, settings.rewriter)};
}

template <class E>
[[nodiscard]] GreedyRefine<E> greedy_refine(AnyChatModel model, const Problem& problem, E evaluator,
                                            GreedyRefineSettings settings = {}) {
  auto [policy, generator] = greedy_refine_parts(std::move(model), problem, settings);
  return GreedyRefine<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
