// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/kernelband.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/profiling_vector.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "kernelsearch/systems/measured_moves.hpp"

namespace kernelsearch::systems {
namespace {

constexpr std::array<std::string_view, 6> gpu_strategies{"tiling",        "vectorization", "fusion",
                                                         "access_layout", "pipelining",    "reordering"};
constexpr std::array<std::string_view, 6> host_strategies{"tiling",  "vectorization", "fusion",
                                                          "packing", "prefetching",   "loop_order"};

/// Switches off what is ablated.
void ablate(KernelBandSettings& settings) {
  const bool search = settings.without == KernelBandAblation::search;
  if (search || settings.without == KernelBandAblation::clusters) settings.search.clusters = 1;
  if (search || settings.without == KernelBandAblation::strategies)
    settings.strategies = KernelBandStrategies::none;
  const bool profile = search || settings.without == KernelBandAblation::profile;
  if (profile || settings.without == KernelBandAblation::heads) settings.search.alpha = 0.0;
  if (profile) {
    settings.mask = false;
    settings.search.targets.clear();
  }
  if (search) {  // always the best kernel
    settings.search.kernel = KernelChoice::compatible;
    settings.search.lag = 0.0;
  }
}

/// A paper's search with our limits: when moves are given up is in none of them.
void take_search(KernelBandSettings& settings, HierarchicalUcbOptions search) {
  search.limits = settings.search.limits;
  settings.search = std::move(search);
}

}  // namespace

KernelBandSettings KernelBandSettings::v1() {
  KernelBandSettings settings;
  take_search(settings, HierarchicalUcbOptions::v1());
  settings.strategies = KernelBandStrategies::published;
  settings.warm_up = KernelBandWarmUp::synthetic;
  settings.repairs = 0;
  return settings;
}

KernelBandSettings KernelBandSettings::v2() {
  KernelBandSettings settings = v1();
  take_search(settings, HierarchicalUcbOptions::v2());
  settings.features = KernelBandFeatures::v2;
  settings.warm_up = KernelBandWarmUp::none;
  settings.mask = true;
  return settings;
}

const std::array<std::string_view, 6>& published_strategies(Backend backend) {
  return backend == Backend::host ? host_strategies : gpu_strategies;
}

std::vector<std::string> kernelband_profile(Backend backend) {
  if (is_device(backend)) return {profiling_vector_names.begin(), profiling_vector_names.end()};
  return {"memory_utilisation",   "compute_utilisation",  "code.loop.scalar_fp",
          "code.loop.vector_128", "code.loop.vector_256", "code.loop.vector_512",
          "code.loop.spill",      "code.loop.gather",     "code.loop.fma"};
}

std::vector<std::string> kernelband_runtime(Backend backend, KernelBandFeatures features) {
  if (is_device(backend)) {
    if (features == KernelBandFeatures::v2)
      return {"registers", "shared_bytes", "block_threads", "occupancy"};
    return {"shared_bytes", "intensity", "block_x", "block_y", "occupancy"};
  }
  if (features == KernelBandFeatures::v2)
    return {"code.loop.spill", "code.instructions", "code.loop.instructions", "roof_utilisation"};
  return {"code.instructions", "intensity", "code.loop.instructions", "code.loops", "roof_utilisation"};
}

KernelBandSettings kernelband_settled(KernelBandSettings settings, const Problem& problem) {
  const bool published = settings.strategies == KernelBandStrategies::published;
  ablate(settings);
  AgentOptions& common = settings.rewriter.common;
  if (common.strategies.empty()) common.strategies = read_strategies(to_string(problem.backend));
  common.strategies = on_device(std::move(common.strategies), common.device);
  if (published) {  // also where the model chooses from them
    const auto& six = published_strategies(problem.backend);
    std::string names;
    for (const std::string_view name : six) (names += names.empty() ? "" : ", ") += name;
    std::erase_if(common.strategies, [&six](const Strategy& one) {
      return std::find(six.begin(), six.end(), one.name) == six.end();
    });
    if (common.strategies.empty())
      detail::raise<ConfigError>("none of KernelBand's strategies is among those of this problem", names,
                                 "give them these names, or take all: {\"strategies\": \"all\"}");
  }
  HierarchicalUcbOptions& search = settings.search;
  if (settings.strategies == KernelBandStrategies::none)
    search.strategies.clear();
  else if (search.strategies.empty())
    search.strategies = strategy_names(common.strategies);
  if (common.check_conditions && search.conditions.empty())
    for (const Strategy& strategy : common.strategies)
      if (strategy.when) search.conditions.push_back({strategy.name, *strategy.when});
  if (search.evidence > 0.0 && search.signs.empty()) {
    search.signs = strategy_signs(common.strategies);
    if (search.problem.empty()) search.problem = trait_features(problem);
  }
  if (settings.mask && search.targets.empty()) search.targets = strategy_targets(common.strategies);
  if (settings.features != KernelBandFeatures::all) {
    if (search.profile_features.empty()) search.profile_features = kernelband_profile(problem.backend);
    if (search.cluster_features.empty())
      search.cluster_features = kernelband_runtime(problem.backend, settings.features);
    if (search.log_features.empty())
      search.log_features = {"shared_bytes", "block_threads", "code.instructions", "code.loop.instructions"};
  }
  if (search.alpha > 0.0 && search.examples.empty()) {
    if (settings.warm_up == KernelBandWarmUp::measured)
      for (MeasuredMove& move : measured_moves(to_string(problem.backend)))
        search.examples.push_back(std::move(move.example));
    else if (settings.warm_up == KernelBandWarmUp::synthetic)
      search.examples = synthetic_moves(search.strategies, strategy_targets(common.strategies),
                                        search.profile_features, search.seed);
  }
  return settings;
}

}  // namespace kernelsearch::systems
