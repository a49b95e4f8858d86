// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

struct HelionLfboSettings {
  HelionLfboOptions search = {};  ///< Helion 1.5.1 at full effort (surrogate_pattern_search.py)
  OptimizerOptions loop = {};
};

/// Helion's search without a language model: a random forest says which configurations are worth measuring.
template <class E>
using HelionLfbo = Optimizer<kernelsearch::HelionLfbo, TemplateGenerator, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<kernelsearch::HelionLfbo, TemplateGenerator> helion_lfbo_parts(
    const Problem& problem, HelionLfboSettings settings = {}) {
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  return {kernelsearch::HelionLfbo(kernel->space, settings.search), TemplateGenerator(kernel)};
}

template <class E>
[[nodiscard]] HelionLfbo<E> helion_lfbo(const Problem& problem, E evaluator,
                                        HelionLfboSettings settings = {}) {
  auto [policy, generator] = helion_lfbo_parts(problem, settings);
  return HelionLfbo<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
