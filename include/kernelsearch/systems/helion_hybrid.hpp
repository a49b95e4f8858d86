// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "kernelsearch/agents/llm_config_search.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/seeded.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/systems/known_problem.hpp"

namespace kernelsearch::systems {

struct HelionHybridSettings {
  LlmConfigSearchOptions model_search = {.rounds = 1};  ///< llm_seeded_lfbo.py: one round, then LFBO
  LfboOptions search = {};  ///< ours (docs/benchmarks/learners.md): it learns from all that came before
  OptimizerOptions loop = {};
};

/// Helion's hybrid: one round of configurations from a language model, then LFBO, which is told them
/// all. Where the model fails, it is LFBO alone.
template <class E>
using HelionHybrid = Optimizer<Seeded<LlmConfigSearch, Lfbo>, TemplateGenerator, E>;

/// Its policy and its generator, for whoever composes the loop otherwise.
[[nodiscard]] inline std::pair<Seeded<LlmConfigSearch, Lfbo>, TemplateGenerator> helion_hybrid_parts(
    AnyChatModel model, const Problem& problem, HelionHybridSettings settings = {}) {
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  return {Seeded(LlmConfigSearch(kernel->space, std::move(model), known(problem, settings.model_search)),
                 Lfbo(kernel->space, settings.search)),
          TemplateGenerator(kernel)};
}

template <class E>
[[nodiscard]] HelionHybrid<E> helion_hybrid(AnyChatModel model, const Problem& problem, E evaluator,
                                            HelionHybridSettings settings = {}) {
  auto [policy, generator] = helion_hybrid_parts(std::move(model), problem, settings);
  return HelionHybrid<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
