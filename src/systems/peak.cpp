// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/peak.hpp"

#include <utility>

#include "kernelsearch/problem/counted_roofline.hpp"
#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch::systems {

std::function<std::optional<Axis>(const Outcome&)> shortage_of(const Problem& problem,
                                                               const ProblemFacts& facts) {
  return [problem, facts](const Outcome& outcome) -> std::optional<Axis> {
    Bound bound = bound_of(roofline_gaps(outcome.evaluation.features));
    if (bound == Bound::unknown)
      bound = bound_of(
          roofline_gaps(counted_features(problem, outcome.evaluation.measurement, facts.peaks,
                                         {.cold = facts.cold.value_or(is_device(problem.backend))})));
    switch (bound) {
      case Bound::compute:
        return Axis::compute;
      case Bound::bandwidth:
        return Axis::memory;
      case Bound::latency:
        return Axis::latency;
      case Bound::near_peak:
      case Bound::unknown:
        break;
    }
    return std::nullopt;
  };
}

std::function<double(const std::string&, const Outcome&)> evidence_of_transformations(
    const Problem& problem, TransformationLibrary library) {
  return [traits = trait_features(problem), library = std::move(library)](const std::string& name,
                                                                          const Outcome& outcome) {
    const Transformation* transformation = library.find(name);
    if (transformation == nullptr) return 0.0;
    return seen_signs(transformation->signs, outcome.evaluation.features, traits).worth;
  };
}

WorkflowOptions peak_workflow(const Problem& problem, const PeakSettings& settings) {
  WorkflowSubject subject{std::string(to_string(problem.backend)), trait_features(problem),
                          settings.workflow.present};
  WorkflowOptions options = planned_workflow(settings.workflow, settings.library, subject, settings.workflows,
                                             settings.named ? &*settings.named : nullptr);
  if (!options.short_of) options.short_of = shortage_of(problem, settings.transformations.facts);
  if (settings.evidence && !options.evidence)
    options.evidence = evidence_of_transformations(problem, settings.library);
  return options;
}

}  // namespace kernelsearch::systems
