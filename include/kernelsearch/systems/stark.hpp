// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/agents/agent_team.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// STARK (section 3): epsilon 0.3 to 0.4, temperatures 0.8 for the plan and 0.1 for the rest, 30 kernels.
struct StarkSettings {
  EpsilonGreedyTreeOptions search = {
      .limits = {.max_failures = 3}};  ///< max_failures: ours, a model may answer otherwise
  AgentTeamOptions team = {};
  OptimizerOptions loop = {};  ///< the paper's budget is a TrialBudget of 30
};

/// STARK: a tree of kernels, a planner that anchors what is to change, a coder, a debugger, and windows of
/// the tree for each of them.
template <class E>
using Stark = Optimizer<EpsilonGreedyTree, AgentTeam, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<EpsilonGreedyTree, AgentTeam> stark_parts(AnyChatModel model,
                                                                         const Problem& problem,
                                                                         StarkSettings settings = {}) {
  return {EpsilonGreedyTree(settings.search), AgentTeam(std::move(model), problem, settings.team)};
}

template <class E>
[[nodiscard]] Stark<E> stark(AnyChatModel model, const Problem& problem, E evaluator,
                             StarkSettings settings = {}) {
  auto [policy, generator] = stark_parts(std::move(model), problem, settings);
  return Stark<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
