// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include "kernelsearch/systems/best_of_k.hpp"
#include "kernelsearch/systems/geak.hpp"
#include "kernelsearch/systems/greedy_refine.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/stark.hpp"
#include "system_run.hpp"

namespace kernelsearch::app {
AgentOptions agents_of(const SystemRun& run) {
  AgentOptions options;
  options.prompts = PromptLibrary(run.options().methods);
  options.strategies = read_strategies(to_string(run.problem.backend), run.options().methods);
  options.tunables = false;  // nothing here searches them
  options.hardware = run.device;
  options.stop = run.interrupt.token();
  options.log = [faults = run.models.faults](const Exchange& exchange) {
    faults->add(exchange.judgement.fault);
  };
  return options;
}

KernelLookup lookup_for(const SystemRun& run) {
  return lookup_in(run.store, [space = run.problem.kernel.space](Regions regions) {
    return std::make_shared<const Kernel>(Kernel{std::move(regions), space});
  });
}

RunSummary run_over_kernels(SystemRun& run, SystemJudge judge) {
  const std::uint64_t seed = run.options().seed;
  const KernelLookup lookup = lookup_for(run);
  const AnyChatModel& model = run.models.model;
  const auto start = [&](auto make, auto settings) {
    settings.search.seed = seed;
    settings.loop = run.loop;
    return drive(make(model, run.problem, std::move(judge), std::move(settings)), run, lookup);
  };
  if (run.system.name == "stark") {
    systems::StarkSettings settings;
    settings.team.common = agents_of(run);
    return start([](auto&&... a) { return systems::stark(std::move(a)...); }, std::move(settings));
  }
  if (run.system.name == "geak") {
    systems::GeakSettings settings;
    settings.team.common = agents_of(run);
    return start([](auto&&... a) { return systems::geak(std::move(a)...); }, std::move(settings));
  }
  if (run.system.name == "kernelband") {
    systems::KernelBandSettings settings;
    settings.rewriter.common = agents_of(run);
    return start([](auto&&... a) { return systems::kernelband(std::move(a)...); }, std::move(settings));
  }
  if (run.system.name == "best_of_k") {
    systems::BestOfKSettings settings;
    settings.rewriter.common = agents_of(run);
    // The budget counts the problem's own kernel too.
    if (run.budget.trials) settings.search.k = std::max<std::uint64_t>(*run.budget.trials, 2) - 1;
    return start([](auto&&... a) { return systems::best_of_k(std::move(a)...); }, std::move(settings));
  }
  systems::GreedyRefineSettings settings;
  settings.rewriter.common = agents_of(run);
  return start([](auto&&... a) { return systems::greedy_refine(std::move(a)...); }, std::move(settings));
}

}  // namespace kernelsearch::app
