// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <utility>

#include "kernelsearch/agents/method_folder.hpp"
#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/agents/method_writer.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// CUDA optimisation skill V2: 3 iterations, 4 branches, 3 rewrites, noise of 2 %, a budget of 3 methods with
/// at most 2 on an axis (post 1.3 to 2.2).
struct CudaSkillV2Settings {
  RooflineBudgetOptions search = {};  ///< no methods: those of data/methods for the problem's backend
  MethodWriterOptions writer = {};
  MethodFolderOptions files = {};  ///< with a folder: kernels come from its files, no model is asked
  OptimizerOptions loop = {};
};

/// CUDA optimisation skill V2 with any generator. `E` brings what it decides by as features: the profile
/// (Profiled), the machine code and the times next to the parent's (docs/systems/cuda_skill_v2.md).
template <class G, class E>
using CudaSkillV2 = Optimizer<RooflineBudget, G, E>;

/// With what policy and generator must share filled in: the methods, the number of branches, the journal.
[[nodiscard]] inline CudaSkillV2Settings joined(const Problem& problem, CudaSkillV2Settings settings) {
  if (settings.search.methods.empty()) settings.search.methods = read_methods(to_string(problem.backend));
  if (!settings.search.journal) settings.search.journal = std::make_shared<SkillJournal>();
  settings.writer.methods = settings.files.methods = settings.search.methods;
  settings.writer.branches = settings.files.branches = settings.search.branches;
  settings.writer.journal = settings.files.journal = settings.search.journal;
  return settings;
}

/// Its policy and its generator, whose kernels are written by a model.
[[nodiscard]] inline std::pair<RooflineBudget, MethodWriter> cuda_skill_v2_parts(
    AnyChatModel model, const Problem& problem, CudaSkillV2Settings settings) {
  settings = joined(problem, std::move(settings));
  return {RooflineBudget(settings.search), MethodWriter(std::move(model), problem, settings.writer)};
}

/// Its policy and its generator, whose kernels are written by a person or an agent, as files.
[[nodiscard]] inline std::pair<RooflineBudget, MethodFolder> cuda_skill_v2_parts(
    const Problem& problem, CudaSkillV2Settings settings) {
  settings = joined(problem, std::move(settings));
  return {RooflineBudget(settings.search), MethodFolder(problem, settings.files)};
}

/// Its kernels are written by a model.
template <class E>
[[nodiscard]] CudaSkillV2<MethodWriter, E> cuda_skill_v2(AnyChatModel model, const Problem& problem,
                                                         E evaluator, CudaSkillV2Settings settings = {}) {
  auto [policy, generator] = cuda_skill_v2_parts(std::move(model), problem, settings);
  return CudaSkillV2<MethodWriter, E>(std::move(policy), std::move(generator), std::move(evaluator),
                                      settings.loop);
}

/// Its kernels are written by a person or an agent, as files.
template <class E>
[[nodiscard]] CudaSkillV2<MethodFolder, E> cuda_skill_v2(const Problem& problem, E evaluator,
                                                         CudaSkillV2Settings settings) {
  auto [policy, generator] = cuda_skill_v2_parts(problem, settings);
  return CudaSkillV2<MethodFolder, E>(std::move(policy), std::move(generator), std::move(evaluator),
                                      settings.loop);
}

}  // namespace kernelsearch::systems
