// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/named_workflow.hpp"
#include "kernelsearch/agents/natural_transformations.hpp"
#include "kernelsearch/agents/workflow.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/systems/known_problem.hpp"

namespace kernelsearch::systems {

/// PEAK (Tariq et al., sections 3 and 5): transformations in the order of a list, tuned after each one. The
/// paper enumerates all tunings; here a search takes `tuning.max_trials` of them.
struct PeakSettings {
  /// No transformations, and no workflow named: those that fit the problem, in the order that what its
  /// kernels are short of says (`planned_workflow`).
  WorkflowOptions workflow = {};
  TransformationLibrary library = TransformationLibrary();
  bool evidence = true;  ///< whether what kernels show decides which of the least tried is next
  std::vector<NamedWorkflow> workflows = read_workflows();
  std::optional<NamedWorkflow> named = {};  ///< the one to follow
  NaturalTransformationsOptions transformations = {};
  TunedOptions tuning = {};
  OptimizerOptions loop = {};
};

/// Searches a kernel's own tunables by a Gaussian process whose mean is what kernels like it were found to
/// take (docs/benchmarks/tuned.md).
struct TunesByBayes {
  BayesianSearch operator()(const Space& space, std::uint64_t seed, std::vector<EarlierRun> earlier) const {
    return BayesianSearch(space, {.seed = seed, .earlier = std::move(earlier)});
  }
};

/// PEAK: transformations in words, carried out by a model, each tuned and kept as a checkpoint.
template <class E>
using Peak = Optimizer<Workflow, NaturalTransformations, Tuned<TunesByBayes, E>>;

/// What right kernels of the problem are short of: what a profile says, where there is one, else what its
/// counted work and bytes say next to these peaks; nothing where neither is known.
[[nodiscard]] std::function<std::optional<Axis>(const Outcome&)> shortage_of(const Problem& problem,
                                                                             const ProblemFacts& facts);

/// What right kernels of the problem show for a transformation of the library, or against it.
[[nodiscard]] std::function<double(const std::string&, const Outcome&)> evidence_of_transformations(
    const Problem& problem, TransformationLibrary library);

/// The workflow as it runs on the problem: its transformations, their order and what each builds on.
[[nodiscard]] WorkflowOptions peak_workflow(const Problem& problem, const PeakSettings& settings);

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<Workflow, NaturalTransformations> peak_parts(AnyChatModel model,
                                                                            const Problem& problem,
                                                                            PeakSettings settings = {}) {
  NaturalTransformations transform(problem.kernel, settings.library, std::move(model),
                                   known(problem, settings.transformations));
  return {Workflow(peak_workflow(problem, settings)), std::move(transform)};
}

template <class E>
[[nodiscard]] Peak<E> peak(AnyChatModel model, const Problem& problem, E evaluator,
                           PeakSettings settings = {}) {
  auto [policy, generator] = peak_parts(std::move(model), problem, settings);
  return Peak<E>(std::move(policy), std::move(generator),
                 Tuned(TunesByBayes{}, std::move(evaluator), settings.tuning), settings.loop);
}

}  // namespace kernelsearch::systems
