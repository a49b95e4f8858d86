// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_registry.hpp"

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "made_systems.hpp"

namespace kernelsearch {
namespace {

std::vector<SystemEntry> make_entries() {
  namespace made = systems::made;
  return {{.name = "best_of_k",
           .summary = "K rewrites of the kernel by a model, the fastest counts",
           .source = "the baseline of STARK's and KernelBand's tables",
           .composition = "BestOfK, LlmRewriter, E",
           .budget = "17",
           .rewrites = true,
           .make = made::best_of_k,
           .options = made::best_of_k_options()},
          {.name = "cuda_skill_v2",
           .summary = "roofline gaps choose methods; branches, ablations and machine code judge each of them",
           .source = "CUDA optimisation skill V2, aa24aa, dev.to",
           .composition = "RooflineBudget, MethodWriter or MethodFolder, E",
           .budget = "60",
           .rewrites = true,
           .instead_of_model = "from_files",
           .observation = ObservationLevel::everything,
           .make = made::cuda_skill_v2,
           .settings = made::cuda_skill_v2_settings,
           .options = made::cuda_skill_v2_options()},
          {.name = "geak",
           .summary = "a chain of kernels: failures are reflected on and mended, right ones optimised",
           .source = "GEAK, AMD, 2025",
           .composition = "Reflexion, ReflectionTeam, E",
           .budget = "20",
           .rewrites = true,
           .make = made::geak,
           .options = made::geak_options()},
          {.name = "greedy_refine",
           .summary = "the best kernel is rewritten, again and again",
           .source = "the plain loop of most agents",
           .composition = "Beam of width 1, LlmRewriter, E",
           .budget = "20",
           .rewrites = true,
           .make = made::greedy_refine,
           .options = made::greedy_refine_options()},
          {.name = "helion_hybrid",
           .summary = "one round of configurations from a model, then LFBO",
           .source = "Helion 1.5.1, llm_seeded_lfbo.py",
           .composition = "Seeded<LlmConfigSearch, Lfbo>, TemplateGenerator, E",
           .budget = "200",
           .make = made::helion_hybrid,
           .options = made::helion_hybrid_options()},
          {.name = "helion_lfbo",
           .summary = "a random forest says which configurations are worth measuring",
           .source = "Helion 1.5.1, surrogate_pattern_search.py",
           .composition = "HelionLfbo, TemplateGenerator, E",
           .budget = "600",
           .asks = false,
           .make = made::helion_lfbo,
           .options = made::helion_lfbo_options()},
          {.name = "helion_llm",
           .summary = "a model proposes configurations in rounds and is told what came of them",
           .source = "Helion 1.5.1, llm_search.py",
           .composition = "LlmConfigSearch, TemplateGenerator, E",
           .budget = "200",
           .make = made::helion_llm,
           .options = made::helion_llm_options()},
          {.name = "kernelband",
           .summary = "a bandit over clusters of kernels and strategies; each pull is one rewrite",
           .source = "KernelBand, arXiv 2511.18868",
           .composition = "HierarchicalUcb, LlmRewriter, E",
           .budget = "20",
           .rewrites = true,
           .observation = ObservationLevel::counters,
           .make = made::kernelband,
           .options = made::kernelband_options()},
          {.name = "peak",
           .summary = "transformations in words, each checked, tuned and kept as a checkpoint",
           .source = "PEAK, Tariq et al.",
           .composition = "Workflow, NaturalTransformations, Tuned<Lfbo, E>",
           .budget = "2000",
           .rewrites = true,
           .make = made::peak,
           .options = made::peak_options()},
          {.name = "stark",
           .summary = "a tree of kernels; a planner anchors the change, a coder makes it, a debugger mends",
           .source = "STARK",
           .composition = "EpsilonGreedyTree, AgentTeam, E",
           .budget = "30",
           .rewrites = true,
           .make = made::stark,
           .options = made::stark_options()}};
}

}  // namespace

std::span<const SystemEntry> system_entries() {
  static const std::vector<SystemEntry> entries = make_entries();
  return entries;
}

const SystemEntry& find_system(std::string_view name) {
  std::vector<std::string> names;
  for (const SystemEntry& entry : system_entries()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  const std::string nearest = nearest_name(std::string(name), names);
  detail::raise<ConfigError>(
      "there is no such system", std::string(name),
      nearest.empty() ? "see `kernelsearch list systems`" : "did you mean " + nearest + "?");
}

}  // namespace kernelsearch
