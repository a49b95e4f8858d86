// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "kernelsearch/agents/llm_config_search.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/seeded.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/systems/known_problem.hpp"

namespace kernelsearch::systems {

/// What searches on after the model.
enum class HelionStage2 : std::uint8_t {
  ours,   ///< `Lfbo`, which does better (docs/benchmarks/learners.md)
  helion  ///< Helion's own search, as `HelionLfbo`: from the model's best and the default
};

struct HelionHybridSettings {
  LlmConfigSearchOptions model_search = {.rounds = 1};  ///< llm_seeded_lfbo.py: one round, then LFBO
  HelionStage2 stage2 = HelionStage2::ours;
  LfboOptions search = {};                                               ///< of stage 2 where it is ours
  HelionLfboOptions helion_search = {.start = HelionStart::best_known};  ///< where it is Helion's
  OptimizerOptions loop = {};
};

/// A model's search, and after it what searches on.
using HelionHybridPolicy = Seeded<LlmConfigSearch, AnyPolicy<Config>>;

/// Helion's hybrid: one round of configurations from a language model, then LFBO, which is told them
/// all. Where the model fails, it is LFBO alone.
template <class E>
using HelionHybrid = Optimizer<HelionHybridPolicy, TemplateGenerator, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<HelionHybridPolicy, TemplateGenerator> helion_hybrid_parts(
    AnyChatModel model, const Problem& problem, HelionHybridSettings settings = {}) {
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  const Space& space = kernel->space;
  AnyPolicy<Config> second = settings.stage2 == HelionStage2::ours
                                 ? AnyPolicy<Config>(Lfbo(space, settings.search))
                                 : AnyPolicy<Config>(kernelsearch::HelionLfbo(space, settings.helion_search));
  return {Seeded(LlmConfigSearch(space, std::move(model), known(problem, settings.model_search)),
                 std::move(second)),
          TemplateGenerator(kernel)};
}

template <class E>
[[nodiscard]] HelionHybrid<E> helion_hybrid(AnyChatModel model, const Problem& problem, E evaluator,
                                            HelionHybridSettings settings = {}) {
  auto [policy, generator] = helion_hybrid_parts(std::move(model), problem, settings);
  return HelionHybrid<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
