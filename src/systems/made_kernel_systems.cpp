// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <utility>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/systems/best_of_k.hpp"
#include "kernelsearch/systems/geak.hpp"
#include "kernelsearch/systems/greedy_refine.hpp"
#include "kernelsearch/systems/kernelband.hpp"
#include "kernelsearch/systems/stark.hpp"
#include "made_systems.hpp"

/// Systems whose candidates are kernels that models write, all with the problem's space.
namespace kernelsearch::systems::made {
namespace {

template <class Policy, class Generator>
SystemSearch search_of(std::pair<Policy, Generator> parts, const Problem& problem) {
  return {.parts = SearchParts<Move>{std::move(parts.first), std::move(parts.second)},
          .kernel_of = kernels_of(problem)};
}

}  // namespace

AgentOptions agent_options(const SystemSetup& setup) {
  AgentOptions options;
  options.prompts = PromptLibrary(setup.methods);
  options.strategies = read_strategies(to_string(setup.problem.backend), setup.methods);
  options.tunables = false;  // nothing here searches them
  options.hardware = setup.hardware;
  options.stop = setup.stop;
  options.log = setup.log;
  return options;
}

KernelMaker kernels_of(const Problem& problem) {
  return [space = problem.kernel.space](Regions regions) {
    return std::make_shared<const Kernel>(Kernel{std::move(regions), space});
  };
}

std::vector<SystemOption> best_of_k_options() {
  const BestOfKSettings standard;
  return {{"k", std::int64_t{0},
           "rewrites of the problem's kernel; 0: as many as the budget has trials, less its own",
           "ours; STARK and KernelBand give their baselines as many tries as they have", 0, 1e6}};
}

SystemSearch best_of_k(SystemSetup setup) {
  BestOfKSettings settings;
  settings.rewriter.common = agent_options(setup);
  settings.search.seed = setup.seed;
  if (const std::size_t k = setup.options.count("k"); k > 0)
    settings.search.k = k;
  else if (setup.budget)  // which counts the problem's own kernel too
    settings.search.k = std::max<std::uint64_t>(*setup.budget, 2) - 1;
  return search_of(best_of_k_parts(std::move(setup.model), setup.problem, std::move(settings)),
                   setup.problem);
}

std::vector<SystemOption> geak_options() {
  const GeakSettings standard;
  return {{"patience", whole(standard.search.patience),
           "steps without a gain before the chain goes on from the best; 0: never", "ours", 0, 1e6},
          {"debugs", whole(standard.search.limits.debugs), "attempts to repair one failed kernel",
           "GEAK, section 3", 0, 1e6}};
}

SystemSearch geak(SystemSetup setup) {
  GeakSettings settings;
  settings.team.common = agent_options(setup);
  settings.search.seed = setup.seed;
  settings.search.patience = setup.options.count("patience");
  settings.search.limits.debugs =
      static_cast<decltype(settings.search.limits.debugs)>(setup.options.count("debugs"));
  return search_of(geak_parts(std::move(setup.model), setup.problem, std::move(settings)), setup.problem);
}

std::vector<SystemOption> greedy_refine_options() {
  const GreedyRefineSettings standard;
  return {
      {"width", whole(standard.search.width), "kernels kept from one generation to the next", "ours", 1, 1e6},
      {"branch", whole(standard.search.branch), "rewrites of each of them in a generation", "ours", 1, 1e6}};
}

SystemSearch greedy_refine(SystemSetup setup) {
  GreedyRefineSettings settings;
  settings.rewriter.common = agent_options(setup);
  settings.search.seed = setup.seed;
  settings.search.width = setup.options.count("width");
  settings.search.branch = setup.options.count("branch");
  return search_of(greedy_refine_parts(std::move(setup.model), setup.problem, std::move(settings)),
                   setup.problem);
}

std::vector<SystemOption> kernelband_options() {
  const KernelBandSettings standard;
  return {
      {"clusters", whole(standard.search.clusters), "clusters of kernels, at most", "KernelBand v1", 1, 1000},
      {"recluster_every", whole(standard.search.recluster_every), "trials between two clusterings",
       "KernelBand v1", 1, 1e6},
      {"exploration", standard.search.exploration, "c in sqrt(c ln t / n)", "KernelBand v1", 0, 1000},
      {"alpha", standard.search.alpha, "weight of the compatibility heads; 0: none", "KernelBand v1", 0,
       1000}};
}

SystemSearch kernelband(SystemSetup setup) {
  KernelBandSettings settings;
  settings.rewriter.common = agent_options(setup);
  settings.search.seed = setup.seed;
  settings.search.clusters = setup.options.count("clusters");
  settings.search.recluster_every = setup.options.count("recluster_every");
  settings.search.exploration = setup.options.number("exploration");
  settings.search.alpha = setup.options.number("alpha");
  return search_of(kernelband_parts(std::move(setup.model), setup.problem, std::move(settings)),
                   setup.problem);
}

std::vector<SystemOption> stark_options() {
  const StarkSettings standard;
  return {
      {"root_children", whole(standard.search.root_children),
       "children of the root, after which it cannot be selected", "STARK, section 3.4", 1, 1e6},
      {"dead_children", whole(standard.search.dead_children),
       "a node with more children than these, all failed, cannot be selected", "STARK, section 3.4", 0, 1e6},
      {"epsilon", standard.search.epsilon, "probability of a random node", "STARK: 0.3 to 0.4", 0, 1}};
}

SystemSearch stark(SystemSetup setup) {
  StarkSettings settings;
  settings.team.common = agent_options(setup);
  settings.search.seed = setup.seed;
  settings.search.root_children = setup.options.count("root_children");
  settings.search.dead_children = setup.options.count("dead_children");
  settings.search.epsilon = setup.options.number("epsilon");
  return search_of(stark_parts(std::move(setup.model), setup.problem, std::move(settings)), setup.problem);
}

}  // namespace kernelsearch::systems::made
