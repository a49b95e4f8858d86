// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/systems/helion_hybrid.hpp"
#include "kernelsearch/systems/helion_lfbo.hpp"
#include "kernelsearch/systems/helion_llm.hpp"
#include "made_systems.hpp"

/// Systems that search configurations of the problem's kernel.
namespace kernelsearch::systems::made {
namespace {

constexpr const char* no_tunables = "this system chooses values of tunables, and a PyTorch module has none";

LlmConfigSearchOptions asking(const SystemSetup& setup, LlmConfigSearchOptions options) {
  refuse_module(setup.problem, no_tunables);
  options.seed = setup.seed;
  options.device = setup.hardware;
  options.facts = setup.facts;
  options.prompts = PromptLibrary(setup.methods);
  options.stop = setup.stop;
  options.log = setup.log;
  options.say = setup.say;
  options.rounds = setup.options.count("rounds");
  options.configs_per_round = setup.options.count("configs_per_round");
  options.ask_again = options.repeats_again = setup.options.count("ask_again");
  options.random_seeds = setup.options.count("random_seeds");
  options.fruitless_rounds = setup.options.count("fruitless_rounds");
  options.min_gain = setup.options.number("min_gain");
  if (setup.options.given("variant") && setup.options.text("variant") == "paper") options.history.table = 0;
  return options;
}

std::vector<SystemOption> question_options(const LlmConfigSearchOptions& standard, const char* source) {
  return {
      {"rounds", whole(standard.rounds), "questions to the model, the first included", source, 1, 1000},
      {"configs_per_round", whole(standard.configs_per_round), "configurations that a question asks for",
       source, 1, 1000},
      {"random_seeds", whole(standard.random_seeds),
       "random configurations that are measured while the first question is asked", source, 0, 1e6},
      {"fruitless_rounds", whole(standard.fruitless_rounds),
       "rounds in a row, the first not counted, that gain too little and end the questions", source, 1, 1e6},
      {"min_gain", standard.min_gain, "a round that gains less is fruitless", source, 0, 1},
      {"ask_again",
       whole(standard.ask_again),
       "times that a reply of no use is answered",
       "ours",
       0,
       100,
       {},
       {{"paper", whole(0), "Helion 1.5.1 gives up"}}}};
}

template <class Policy>
SystemSearch search_of(std::pair<Policy, TemplateGenerator> parts) {
  return {.parts = SearchParts<Config>{std::move(parts.first), std::move(parts.second)}};
}

}  // namespace

void refuse_module(const Problem& problem, const char* why) {
  if (has_module_reference(problem))
    detail::raise<ConfigError>(why, problem.name, "choose a system whose models write files, e.g. stark");
}

std::vector<SystemOption> helion_lfbo_options() {
  const HelionLfboSettings standard;
  const HelionLfboOptions small = helion_lfbo_small();
  const auto ours = [](std::size_t value) {
    return std::vector<VariantValue>{{"ours", whole(value), "docs/benchmarks/policies.md"}};
  };
  return {{"initial",
           whole(standard.search.initial),
           "configurations that a run begins with",
           "Helion 1.5.1, full effort",
           1,
           1e6,
           {},
           ours(small.initial)},
          {"copies",
           whole(standard.search.copies),
           "the best of them, searched from in parallel",
           "Helion 1.5.1, full effort",
           1,
           1e6,
           {},
           ours(small.copies)},
          {"generations",
           whole(standard.search.generations),
           "generations, at most",
           "Helion 1.5.1, full effort",
           1,
           1e6,
           {},
           ours(small.generations)},
          {"fraction",
           standard.search.fraction,
           "share of a copy's proposals that is measured",
           "Helion 1.5.1, full effort",
           0,
           1,
           {},
           {{"ours", small.fraction, "docs/benchmarks/policies.md"}}},
          {"patience",
           whole(standard.search.patience),
           "generations without gain that a copy survives",
           "Helion 1.5.1, full effort",
           0,
           1e6,
           {},
           ours(small.patience)}};
}

SystemSearch helion_lfbo(SystemSetup setup) {
  refuse_module(setup.problem, no_tunables);
  HelionLfboSettings settings;
  settings.search.seed = setup.seed;
  settings.search.initial = setup.options.count("initial");
  settings.search.copies = setup.options.count("copies");
  settings.search.generations = setup.options.count("generations");
  settings.search.patience = setup.options.count("patience");
  settings.search.fraction = setup.options.number("fraction");
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
  std::vector<SystemOption> options =
      question_options(HelionHybridSettings{}.model_search, "Helion 1.5.1, llm_seeded_lfbo.py");
  options.push_back(
      {.name = "stage2",
       .standard = std::string("ours"),
       .summary = "what searches after the model: `ours` (Lfbo) or `helion` (HelionLfbo, Helion's own)",
       .source = "ours; Helion has its own search",
       .choices = {"ours", "helion"},
       .variants = {{"paper", std::string("helion"), "Helion 1.5.1, llm_seeded_lfbo.py"}}});
  return options;
}

SystemSearch helion_hybrid(SystemSetup setup) {
  HelionHybridSettings settings;
  settings.model_search = asking(setup, settings.model_search);
  settings.search = {.seed = setup.seed, .budget = setup.budget};
  settings.helion_search.seed = setup.seed;
  settings.stage2 = setup.options.text("stage2") == "helion" ? HelionStage2::helion : HelionStage2::ours;
  return search_of(helion_hybrid_parts(std::move(setup.model), setup.problem, std::move(settings)));
}

}  // namespace kernelsearch::systems::made
