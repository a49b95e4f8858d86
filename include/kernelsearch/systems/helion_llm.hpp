// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "kernelsearch/agents/llm_config_search.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/systems/known_problem.hpp"

namespace kernelsearch::systems {

struct HelionLlmSettings {
  LlmConfigSearchOptions search = {};  ///< Helion 1.5.1 at full effort (llm_search.py): 4 rounds of 15
  OptimizerOptions loop = {};
};

/// Helion's search guided by a language model, which proposes configurations and is told what came of them.
template <class E>
using HelionLlm = Optimizer<LlmConfigSearch, TemplateGenerator, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<LlmConfigSearch, TemplateGenerator> helion_llm_parts(
    AnyChatModel model, const Problem& problem, HelionLlmSettings settings = {}) {
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  return {LlmConfigSearch(kernel->space, std::move(model), known(problem, settings.search)),
          TemplateGenerator(kernel)};
}

template <class E>
[[nodiscard]] HelionLlm<E> helion_llm(AnyChatModel model, const Problem& problem, E evaluator,
                                      HelionLlmSettings settings = {}) {
  auto [policy, generator] = helion_llm_parts(std::move(model), problem, settings);
  return HelionLlm<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
