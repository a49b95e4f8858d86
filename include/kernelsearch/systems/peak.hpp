// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

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
  WorkflowOptions workflow = {};  ///< no transformations: those of the library, each that is not on the path
  TransformationLibrary library = TransformationLibrary();
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

/// Its policy and its generator, for whoever composes the loop otherwise.
[[nodiscard]] inline std::pair<Workflow, NaturalTransformations> peak_parts(AnyChatModel model,
                                                                            const Problem& problem,
                                                                            PeakSettings settings = {}) {
  NaturalTransformations transform(problem.kernel, settings.library, std::move(model),
                                   known(problem, settings.transformations));
  if (settings.workflow.transformations.empty())
    settings.workflow.transformations = transform.names(), settings.workflow.order = WorkflowOrder::open;
  return {Workflow(settings.workflow), std::move(transform)};
}

template <class E>
[[nodiscard]] Peak<E> peak(AnyChatModel model, const Problem& problem, E evaluator,
                           PeakSettings settings = {}) {
  auto [policy, generator] = peak_parts(std::move(model), problem, settings);
  return Peak<E>(std::move(policy), std::move(generator),
                 Tuned(TunesByBayes{}, std::move(evaluator), settings.tuning), settings.loop);
}

}  // namespace kernelsearch::systems
