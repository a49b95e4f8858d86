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

/// What differs between ours and a paper's systems that write kernels is, before any option of the system,
/// how a run is made.
SystemVariant ours_with(std::string what) {
  return {
      "ours",
      "kernels are tuned, a run begins at the best configuration known, and prompts show what earlier runs "
      "learned" +
          std::move(what),
      "docs/benchmarks/systems.md"};
}
SystemVariant paper(std::string source, std::string what = {}) {
  return {"paper", "as published" + std::move(what), std::move(source), true};
}

constexpr std::string_view told_times = "its model is asked for a faster kernel and is told times";
constexpr std::string_view told_times_of_configs =
    "its model is asked for the fastest configurations and is told their times";
constexpr std::string_view places_in_roofline =
    "it chooses methods by the kernel's place in the roofline, which is made of times";

std::vector<SystemEntry> make_entries() {
  namespace made = systems::made;
  std::vector<SystemEntry> entries{
      {.name = "best_of_k",
       .summary = "K rewrites of the kernel by a model, the fastest counts",
       .source = "the baseline of STARK's and KernelBand's tables",
       .composition = "Repaired<BestOfK>, LlmRewriter, E",
       .budget = "17",
       .rewrites = true,
       .tunes = true,
       .from_best = true,
       .needs_times = told_times,
       .make = made::best_of_k,
       .variants = {ours_with("; failures are repaired"), paper("STARK and KernelBand, baselines")},
       .options = made::best_of_k_options()},
      {.name = "cuda_skill_v2",
       .summary = "roofline gaps choose methods; branches, ablations and machine code judge each of them",
       .source = "CUDA optimisation skill V2, aa24aa, dev.to",
       .composition = "RooflineBudget, MethodWriter or MethodFolder, E",
       .budget = "60",
       .rewrites = true,
       .from_best = true,
       .needs_times = places_in_roofline,
       .instead_of_model = "from_files",
       .observation = ObservationLevel::everything,
       .make = made::cuda_skill_v2,
       .settings = made::cuda_skill_v2_settings,
       .variants = {ours_with(""), paper("CUDA optimisation skill V2")},
       .options = made::cuda_skill_v2_options()},
      {.name = "geak",
       .summary = "a chain of kernels: failures are reflected on and repaired, right ones optimised",
       .source = "GEAK, AMD, 2025",
       .composition = "Reflexion, ReflectionTeam, E",
       .budget = "20",
       .rewrites = true,
       .tunes = true,
       .from_best = true,
       .needs_times = told_times,
       .make = made::geak,
       .variants = {ours_with(""), paper("GEAK, section 3")},
       .options = made::geak_options()},
      {.name = "greedy_refine",
       .summary = "the best kernel is rewritten, again and again",
       .source = "the plain loop of most agents",
       .composition = "Repaired<Beam> of width 1, LlmRewriter, E",
       .budget = "20",
       .rewrites = true,
       .tunes = true,
       .from_best = true,
       .needs_times = told_times,
       .make = made::greedy_refine,
       .variants = {ours_with("; failures are repaired"), paper("the baselines of the papers")},
       .options = made::greedy_refine_options()},
      {.name = "helion_hybrid",
       .summary = "one round of configurations from a model, then LFBO",
       .source = "Helion 1.5.1, llm_seeded_lfbo.py",
       .composition = "Seeded<LlmConfigSearch, Lfbo>, TemplateGenerator, E",
       .budget = "200",
       .outlives_model = true,
       .needs_times = told_times_of_configs,
       .make = made::helion_hybrid,
       .variants = {{"ours", "the second stage is our LFBO, which learns from all that came before",
                     "docs/benchmarks/learners.md"},
                    paper("Helion 1.5.1", ": the second stage is Helion's own search")},
       .options = made::helion_hybrid_options()},
      {.name = "helion_lfbo",
       .summary = "a random forest says which configurations are worth measuring",
       .source = "Helion 1.5.1, surrogate_pattern_search.py",
       .composition = "HelionLfbo, TemplateGenerator, E",
       .budget = "600",
       .asks = false,
       .make = made::helion_lfbo,
       .variants = {paper("Helion 1.5.1", " at full effort; it is here to be compared with"),
                    {"ours", "a smaller population and more patience", "docs/benchmarks/policies.md"}},
       .options = made::helion_lfbo_options()},
      {.name = "helion_llm",
       .summary = "a model proposes configurations in rounds and is told what came of them",
       .source = "Helion 1.5.1, llm_search.py",
       .composition = "LlmConfigSearch, TemplateGenerator, E",
       .budget = "200",
       .needs_times = told_times_of_configs,
       .make = made::helion_llm,
       .variants = {{"ours", "a reply of no use is answered once", "docs/systems/helion_llm.md"},
                    paper("Helion 1.5.1")},
       .options = made::helion_llm_options()},
      {.name = "kernelband",
       .summary = "a bandit over clusters of kernels and strategies; each pull is one rewrite",
       .source = "KernelBand, arXiv 2511.18868",
       .composition = "Repaired<HierarchicalUcb>, LlmRewriter, E",
       .budget = "20",
       .rewrites = true,
       .tunes = true,
       .from_best = true,
       .needs_times = told_times,
       .observation = ObservationLevel::counters,
       .make = made::kernelband,
       .learns = made::kernelband_learns,
       .variants = made::kernelband_variants(),
       .options = made::kernelband_options()},
      {.name = "peak",
       .summary = "transformations in words, each checked, tuned and kept as a checkpoint",
       .source = "PEAK, Tariq et al.",
       .composition = "Workflow, NaturalTransformations, Tuned<BayesianSearch, E>",
       .budget = "2000",
       .rewrites = true,
       .needs_times = told_times,
       .make = made::peak,
       .settings = made::peak_settings,
       .workflow = made::peak_workflow_of,
       .variants =
           {{"ours",
             "more tries in the middle of the list, and a least gain; prompts show what earlier runs learned",
             "docs/systems/peak.md"},
            paper("PEAK")},
       .options = made::peak_options()},
      {.name = "stark",
       .summary = "a tree of kernels; a planner anchors the change, a coder makes it, a debugger repairs it",
       .source = "STARK",
       .composition = "EpsilonGreedyTree, AgentTeam, E",
       .budget = "30",
       .rewrites = true,
       .tunes = true,
       .from_best = true,
       .needs_times = told_times,
       .make = made::stark,
       .variants = {ours_with(""), paper("STARK")},
       .options = made::stark_options()}};
  for (SystemEntry& entry : entries)
    entry.options.insert(entry.options.begin(), variant_option(entry.variants));
  return entries;
}

}  // namespace

std::span<const SystemEntry> system_entries() {
  static const std::vector<SystemEntry> entries = make_entries();
  return entries;
}

const SystemVariant& SystemEntry::variant_of(const SystemOptions& given) const {
  const std::string asked = given.text("variant");
  for (const SystemVariant& variant : variants)
    if (variant.name == asked) return variant;
  detail::raise<ConfigError>("there is no such variant of " + std::string(name), asked,
                             "see `kernelsearch list systems --json`");
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
