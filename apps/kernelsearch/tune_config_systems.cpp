// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "kernelsearch/systems/helion_hybrid.hpp"
#include "kernelsearch/systems/helion_lfbo.hpp"
#include "kernelsearch/systems/helion_llm.hpp"
#include "system_run.hpp"

namespace kernelsearch::app {
namespace {

LlmConfigSearchOptions asking(const SystemRun& run, LlmConfigSearchOptions options) {
  options.seed = run.options().seed;
  options.device = run.device;
  options.prompts = PromptLibrary(run.options().methods);
  options.stop = run.interrupt.token();
  return options;
}

}  // namespace

RunSummary run_over_configs(SystemRun& run, SystemJudge judge) {
  const KernelLookup lookup = lookup_among({std::make_shared<const Kernel>(run.problem.kernel)});
  if (run.system.name == "helion_lfbo")
    return drive(systems::helion_lfbo(run.problem, std::move(judge),
                                      {.search = {.seed = run.options().seed}, .loop = run.loop}),
                 run, lookup);
  if (run.system.name == "helion_llm") {
    systems::HelionLlmSettings settings;
    settings.search = asking(run, settings.search);
    settings.loop = run.loop;
    return drive(systems::helion_llm(run.models.model, run.problem, std::move(judge), settings), run, lookup);
  }
  systems::HelionHybridSettings settings;
  settings.model_search = asking(run, settings.model_search);
  settings.search = {.seed = run.options().seed, .budget = run.budget.trials};
  settings.loop = run.loop;
  return drive(systems::helion_hybrid(run.models.model, run.problem, std::move(judge), settings), run,
               lookup);
}

}  // namespace kernelsearch::app
