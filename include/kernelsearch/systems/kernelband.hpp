// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/llm_rewriter.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/policy/repaired.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::systems {

/// Which strategies the bandit chooses from.
enum class KernelBandStrategies : std::uint8_t {
  all,        ///< every one that fits the backend and the device
  published,  ///< the six of the authors' code, on hosts their counterparts (published_strategies)
  none,       ///< the model chooses: questions name all that apply
};

/// Which features the clusters and the heads see (docs/systems/kernelband.md).
enum class KernelBandFeatures : std::uint8_t {
  v1,   ///< the profiling vector phi for heads and the runtime vector rho for clusters (sections 4.2, 4.3)
  v2,   ///< the five of the authors' code for clusters; phi for heads, if there are any
  all,  ///< every feature of the evaluation, temperatures too: no paper's
};

/// A part that is switched off, to see what it is worth.
enum class KernelBandAblation : std::uint8_t {
  none,
  clusters,    ///< one cluster: a flat bandit
  heads,       ///< no compatibility heads
  profile,     ///< neither heads nor mask: no counter is looked at
  strategies,  ///< the model chooses the strategy, the bandit the kernel
  search,      ///< the search agent alone: no bandit; the model rewrites the best kernel as it likes
};

/// What the heads are warmed up with where no earlier run gives moves.
enum class KernelBandWarmUp : std::uint8_t {
  none,
  measured,   ///< moves that were measured on other problems and come with the library (measured_moves)
  synthetic,  ///< 1000 pairs of a random phase (synthetic_moves): the paper's
};

/// KernelBand (arXiv 2511.18868). The defaults are ours, which do best in docs/benchmarks/systems.md and
/// docs/moves.md; v1() and v2() are the authors'. docs/systems/kernelband.md has what differs.
struct KernelBandSettings {
  /// No strategies or features: as the members below say. One unusable reply closes nothing for good, since a
  /// model may answer otherwise.
  HierarchicalUcbOptions search = {.limits = {.max_failures = 3}};
  KernelBandStrategies strategies = KernelBandStrategies::all;
  KernelBandFeatures features = KernelBandFeatures::v1;
  bool mask = false;  ///< strategies whose target is saturated are masked (v2); `search.targets` come first
  KernelBandAblation without = KernelBandAblation::none;
  KernelBandWarmUp warm_up = KernelBandWarmUp::none;  ///< `search.examples` come first
  LlmRewriterOptions rewriter = {};
  std::size_t repairs = 1;     ///< questions that repair a kernel that failed; ours
  OptimizerOptions loop = {};  ///< the paper's budget is 10 kernels, 20 where scaling is shown

  /// Version 1, the paper: three clusters, c = 2, heads with buffers of 32.
  [[nodiscard]] static KernelBandSettings v1();
  /// Version 2, the authors' code: mask by the hardware's signature, softmax, no heads.
  [[nodiscard]] static KernelBandSettings v2();
};

/// The authors' six strategies by the names of data/strategies, in the order of their code; of hosts those
/// that do the same for a processor.
[[nodiscard]] const std::array<std::string_view, 6>& published_strategies(Backend backend);

/// The features that stand for the profiling vector phi(k) (section 4.2): on devices those of
/// profiling_vector(), on hosts what there is instead.
[[nodiscard]] std::vector<std::string> kernelband_profile(Backend backend);

/// The features that stand for the runtime vector rho(k) (section 4.3), or for the clusters' of version 2.
/// Log time is one more, which HierarchicalUcbOptions::cluster_by_time adds.
[[nodiscard]] std::vector<std::string> kernelband_runtime(Backend backend, KernelBandFeatures features);

/// The settings with everything filled in that the problem decides: strategies, their conditions and
/// targets, features; and with what is ablated switched off. ConfigError where none of the published
/// strategies is there, which files of the user may have replaced.
[[nodiscard]] KernelBandSettings kernelband_settled(KernelBandSettings settings, const Problem& problem);

/// KernelBand: a bandit over clusters of kernels and named strategies, each pull one rewrite by a model. With
/// `E` a Profiled evaluator its clusters and heads see the profile, else the measured times alone.
template <class E>
using KernelBand = Optimizer<Repaired<HierarchicalUcb>, LlmRewriter, E>;

/// Its policy and its generator, for the one who composes the loop otherwise.
[[nodiscard]] inline std::pair<Repaired<HierarchicalUcb>, LlmRewriter> kernelband_parts(
    AnyChatModel model, const Problem& problem, KernelBandSettings settings = {}) {
  settings = kernelband_settled(std::move(settings), problem);
  LlmRewriter rewriter(std::move(model), problem, settings.rewriter);
  return {Repaired(HierarchicalUcb(settings.search), settings.repairs), std::move(rewriter)};
}

template <class E>
[[nodiscard]] KernelBand<E> kernelband(AnyChatModel model, const Problem& problem, E evaluator,
                                       KernelBandSettings settings = {}) {
  auto [policy, generator] = kernelband_parts(std::move(model), problem, settings);
  return KernelBand<E>(std::move(policy), std::move(generator), std::move(evaluator), settings.loop);
}

}  // namespace kernelsearch::systems
