// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "kernelsearch/systems/helion_hybrid.hpp"
#include "kernelsearch/systems/helion_lfbo.hpp"
#include "kernelsearch/systems/helion_llm.hpp"
#include "kernelsearch/systems/peak.hpp"
#include "made_systems.hpp"

/// Systems that search configurations, of the problem's kernel or of each kernel that they write.
namespace kernelsearch::systems::made {
namespace {

LlmConfigSearchOptions asking(const SystemSetup& setup, LlmConfigSearchOptions options) {
  options.seed = setup.seed;
  options.device = setup.hardware;
  options.prompts = PromptLibrary(setup.methods);
  options.stop = setup.stop;
  options.rounds = setup.options.count("rounds");
  options.configs_per_round = setup.options.count("configs_per_round");
  return options;
}

std::vector<SystemOption> question_options(const LlmConfigSearchOptions& standard, const char* source) {
  return {{"rounds", whole(standard.rounds), "questions to the model, the first included", source, 1, 1000},
          {"configs_per_round", whole(standard.configs_per_round), "configurations that a question asks for",
           source, 1, 1000}};
}

template <class Policy>
SystemSearch search_of(std::pair<Policy, TemplateGenerator> parts) {
  return {.parts = SearchParts<Config>{std::move(parts.first), std::move(parts.second)}};
}

}  // namespace

std::vector<SystemOption> helion_lfbo_options() {
  const HelionLfboSettings standard;
  return {{"initial", whole(standard.search.initial), "configurations that a run begins with",
           "Helion 1.5.1, full effort", 1, 1e6},
          {"copies", whole(standard.search.copies), "the best of them, searched from in parallel",
           "Helion 1.5.1, full effort", 1, 1e6},
          {"generations", whole(standard.search.generations), "generations, at most",
           "Helion 1.5.1, full effort", 1, 1e6}};
}

SystemSearch helion_lfbo(SystemSetup setup) {
  HelionLfboSettings settings;
  settings.search.seed = setup.seed;
  settings.search.initial = setup.options.count("initial");
  settings.search.copies = setup.options.count("copies");
  settings.search.generations = setup.options.count("generations");
  return search_of(helion_lfbo_parts(setup.problem, std::move(settings)));
}

std::vector<SystemOption> helion_llm_options() {
  return question_options(HelionLlmSettings{}.search, "Helion 1.5.1, llm_search.py");
}

SystemSearch helion_llm(SystemSetup setup) {
  HelionLlmSettings settings;
  settings.search = asking(setup, settings.search);
  return search_of(helion_llm_parts(std::move(setup.model), setup.problem, std::move(settings)));
}

std::vector<SystemOption> helion_hybrid_options() {
  return question_options(HelionHybridSettings{}.model_search, "Helion 1.5.1, llm_seeded_lfbo.py");
}

SystemSearch helion_hybrid(SystemSetup setup) {
  HelionHybridSettings settings;
  settings.model_search = asking(setup, settings.model_search);
  settings.search = {.seed = setup.seed, .budget = setup.budget};
  return search_of(helion_hybrid_parts(std::move(setup.model), setup.problem, std::move(settings)));
}

std::vector<SystemOption> peak_options() {
  const PeakSettings standard;
  return {{"patience", whole(standard.workflow.patience),
           "steps without a gain before work goes on from the best checkpoint", "PEAK, section 5.1", 0, 1e6},
          {"retries", whole(standard.workflow.retries), "further tries of a transformation that failed",
           "PEAK, section 5.2", 0, 1000},
          {"inner_trials", static_cast<std::int64_t>(standard.tuning.max_trials),
           "trials of the search over one kernel's tunables", "ours; the paper enumerates them", 1, 1e9}};
}

SystemSearch peak(SystemSetup setup) {
  PeakSettings settings;
  settings.library = TransformationLibrary(setup.methods);
  settings.transformations.device = setup.hardware;
  settings.transformations.prompts = PromptLibrary(setup.methods);
  settings.transformations.stop = setup.stop;
  settings.workflow.patience = setup.options.count("patience");
  settings.workflow.retries = setup.options.count("retries");
  settings.tuning = {.max_trials = setup.options.count("inner_trials"), .seed = setup.seed};
  auto [policy, generator] = peak_parts(std::move(setup.model), setup.problem, settings);
  const NaturalTransformations transform = generator;
  return {.parts = SearchParts<Move>{std::move(policy), std::move(generator)},
          .kernel_of = [transform](Regions regions) { return transform.kernel_of(std::move(regions)); },
          .inner = InnerSearch{[](const Space& space, std::uint64_t seed) {
                                 return AnyPolicy<Config>(TunesByLfbo{}(space, seed));
                               },
                               settings.tuning}};
}

}  // namespace kernelsearch::systems::made
