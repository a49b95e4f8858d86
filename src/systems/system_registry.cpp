// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/system_registry.hpp"

#include <array>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {
namespace {

constexpr std::array entries{
    SystemEntry{"best_of_k", "K rewrites of the kernel by a model, the fastest counts",
                "the baseline of STARK's and KernelBand's tables", "BestOfK, LlmRewriter, E", "17", true},
    SystemEntry{"cuda_skill_v2",
                "roofline gaps choose methods; branches, ablations and machine code judge each of them",
                "CUDA optimisation skill V2, aa24aa, dev.to",
                "RooflineBudget, MethodWriter or MethodFolder, E", "60", true},
    SystemEntry{"geak", "a chain of kernels: failures are reflected on and mended, right ones optimised",
                "GEAK, AMD, 2025", "Reflexion, ReflectionTeam, E", "20", true},
    SystemEntry{"greedy_refine", "the best kernel is rewritten, again and again",
                "the plain loop of most agents", "Beam of width 1, LlmRewriter, E", "20", true},
    SystemEntry{"helion_hybrid", "one round of configurations from a model, then LFBO",
                "Helion 1.5.1, llm_seeded_lfbo.py", "Seeded<LlmConfigSearch, Lfbo>, TemplateGenerator, E",
                "200"},
    SystemEntry{"helion_lfbo", "a random forest says which configurations are worth measuring",
                "Helion 1.5.1, surrogate_pattern_search.py", "HelionLfbo, TemplateGenerator, E", "600", false,
                false},
    SystemEntry{"helion_llm", "a model proposes configurations in rounds and is told what came of them",
                "Helion 1.5.1, llm_search.py", "LlmConfigSearch, TemplateGenerator, E", "200"},
    SystemEntry{"kernelband", "a bandit over clusters of kernels and strategies; each pull is one rewrite",
                "KernelBand, arXiv 2511.18868", "HierarchicalUcb, LlmRewriter, E", "20", true},
    SystemEntry{"peak", "transformations in words, each checked, tuned and kept as a checkpoint",
                "PEAK, Tariq et al.", "Workflow, NaturalTransformations, Tuned<Lfbo, E>", "2000", true},
    SystemEntry{"stark",
                "a tree of kernels; a planner anchors the change, a coder makes it, a debugger mends",
                "STARK", "EpsilonGreedyTree, AgentTeam, E", "30", true},
};

}  // namespace

std::span<const SystemEntry> system_entries() noexcept {
  return entries;
}

const SystemEntry& find_system(std::string_view name) {
  std::vector<std::string> names;
  for (const SystemEntry& entry : entries) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  const std::string nearest = nearest_name(std::string(name), names);
  detail::raise<ConfigError>(
      "there is no such system", std::string(name),
      nearest.empty() ? "see `kernelsearch list systems`" : "did you mean " + nearest + "?");
}

}  // namespace kernelsearch
