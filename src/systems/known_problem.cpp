// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/known_problem.hpp"

#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch::systems {

LlmConfigSearchOptions known(const Problem& problem, LlmConfigSearchOptions options) {
  if (options.kernel.empty()) {
    const Regions& regions = problem.kernel.regions;
    for (const std::string* region : {&regions.macros, &regions.device, &regions.host})
      if (!region->empty()) (options.kernel += options.kernel.empty() ? "" : "\n") += *region;
  }
  options.facts.fixed_kernel = true;
  if (options.workload.empty()) options.workload = problem_text(problem, options.facts);
  return options;
}

NaturalTransformationsOptions known(const Problem& problem, NaturalTransformationsOptions options) {
  options.backend = problem.backend;
  if (options.function.empty()) options.function = problem.function;
  if (options.traits.empty()) options.traits = trait_features(problem);
  if (options.workload.empty()) options.workload = problem_text(problem, options.facts);
  return options;
}

}  // namespace kernelsearch::systems
