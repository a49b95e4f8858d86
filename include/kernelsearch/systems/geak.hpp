// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/agents/reflection_team.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/reflexion.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// GEAK (AMD, 2025): temperature 1, the five fastest kernels in the optimizer's prompt, at most five rounds
/// of debugging, 20 iterations.
struct GeakSettings {
  ReflexionOptions search = {
      .patience = 1,
      .limits = {.max_failures = 3, .debugs = 5, .chain_debugs = 5}};  ///< always on from the best
  ReflectionTeamOptions team = {};
  OptimizerOptions loop = {};  ///< the paper's budget is a TrialBudget of 20
};

/// GEAK: a chain of kernels; one that fails is reflected on and repaired, a right one is optimised with the
/// fastest before it in view.
template <class E>
using Geak = Optimizer<Reflexion, ReflectionTeam, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<Reflexion, ReflectionTeam> geak_parts(AnyChatModel model,
                                                                     const Problem& problem,
                                                                     GeakSettings settings = {}) {
  return {Reflexion(settings.search), ReflectionTeam(std::move(model), problem, settings.team)};
}

template <class E>
[[nodiscard]] Geak<E> geak(AnyChatModel model, const Problem& problem, E evaluator,
                           GeakSettings settings = {}) {
  auto [policy, generator] = geak_parts(std::move(model), problem, settings);
  return Geak<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
