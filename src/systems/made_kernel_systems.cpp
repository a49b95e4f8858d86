// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <limits>
#include <utility>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/systems/best_of_k.hpp"
#include "kernelsearch/systems/geak.hpp"
#include "kernelsearch/systems/greedy_refine.hpp"
#include "kernelsearch/systems/stark.hpp"
#include "made_kernel_systems.hpp"

/// Systems whose candidates are kernels that models write, over the problem's space and what they declare.
namespace kernelsearch::systems::made {

SystemOption repairs_option(std::size_t standard, std::vector<VariantValue> variants) {
  constexpr std::size_t most_repairs = 100;
  return {"repairs",
          whole(standard),
          "questions that repair a kernel that failed, each a trial of its own; 0: none",
          "ours",
          0,
          most_repairs,
          {},
          std::move(variants)};
}

SystemOption evidence_option(std::vector<VariantValue> variants) {
  return {"evidence",
          true,
          "what is tried is ordered by what a kernel's machine code and counters show for it, and models are "
          "told the reason",
          "ours: docs/benchmarks/systems.md",
          -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::infinity(),
          {},
          std::move(variants)};
}

namespace {

std::vector<VariantValue> without_evidence() {
  return {{"paper", false, "the paper lists no strategies by what a kernel shows"}};
}

SystemOption listed_option() {
  return {"strategies",
          true,
          "questions list strategies that suit the kernel to choose from",
          "ours",
          -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::infinity(),
          {},
          {{"paper", false, "none of ours are in the paper's questions"}}};
}

SystemOption repaired_again_option() {
  return {"repaired_again",
          false,
          "a failed kernel is repaired again although a child of it is right already",
          "ours: one right child is enough",
          -std::numeric_limits<double>::infinity(),
          std::numeric_limits<double>::infinity(),
          {},
          {{"paper", true, "the paper has no such rule"}}};
}

std::vector<VariantValue> without_repairs() {
  return {{"paper", whole(0), "the papers' baselines have none"}};
}

}  // namespace

AgentOptions agent_options(const SystemSetup& setup) {
  AgentOptions options;
  options.prompts = PromptLibrary(setup.methods);
  options.strategies =
      on_device(read_strategies(to_string(setup.problem.backend), setup.methods), setup.device);
  options.tunables = setup.inner_trials > 0;  // otherwise nothing searches them
  options.root = setup.root;
  options.hardware = setup.hardware;
  options.facts = setup.facts;
  options.device = setup.device;
  options.stop = setup.stop;
  options.recall = setup.recall;
  options.log = setup.log;
  return options;
}

KernelMaker kernels_of(const Problem& problem) {
  return [space = problem.kernel.space](Regions regions) {
    return std::make_shared<const Kernel>(kernel_with_declared(space, std::move(regions), kernel_limits));
  };
}

std::vector<SystemOption> best_of_k_options() {
  const BestOfKSettings standard;
  return {{"k", std::int64_t{0},
           "rewrites of the problem's kernel; 0: as many as the budget has trials, less its own",
           "ours; STARK and KernelBand give their baselines as many tries as they have", 0, 1e6},
          repairs_option(standard.repairs, without_repairs()),
          evidence_option(without_evidence())};
}

SystemSearch best_of_k(SystemSetup setup) {
  BestOfKSettings settings;
  settings.rewriter.common = agent_options(setup);
  settings.rewriter.common.evidence = setup.options.flag("evidence");
  settings.repairs = setup.options.count("repairs");
  settings.search.seed = setup.seed;
  if (const std::size_t k = setup.options.count("k"); k > 0)
    settings.search.k = k;
  else if (setup.budget)  // which counts the problem's own kernel too
    settings.search.k = std::max<std::uint64_t>(*setup.budget, 2) - 1;
  return search_of_kernels(best_of_k_parts(std::move(setup.model), setup.problem, std::move(settings)),
                           setup);
}

std::vector<SystemOption> geak_options() {
  const GeakSettings standard;
  return {{"patience", whole(standard.search.patience),
           "steps without a gain before the chain goes on from the best; 0: never", "ours", 0, 1e6},
          {"debugs", whole(standard.search.limits.debugs),
           "rounds of debugging after a kernel that failed, in all", "GEAK, section 3", 0, 1e6},
          {"failures", whole(standard.search.limits.max_failures),
           "tries in a row without a kernel after which a node is given up", "ours", 1, 1e6},
          repaired_again_option(),
          listed_option(),
          evidence_option(without_evidence())};
}

SystemSearch geak(SystemSetup setup) {
  GeakSettings settings;
  settings.team.common = agent_options(setup);
  settings.team.common.evidence = setup.options.flag("evidence");
  settings.search.seed = setup.seed;
  settings.search.patience = setup.options.count("patience");
  settings.search.limits.debugs = settings.search.limits.chain_debugs = setup.options.count("debugs");
  settings.search.limits.max_failures = setup.options.count("failures");
  settings.search.limits.repaired_again = setup.options.flag("repaired_again");
  settings.team.common.list_strategies = setup.options.flag("strategies");
  return search_of_kernels(geak_parts(std::move(setup.model), setup.problem, std::move(settings)), setup);
}

std::vector<SystemOption> greedy_refine_options() {
  const GreedyRefineSettings standard;
  return {
      {"width", whole(standard.search.width), "kernels kept from one generation to the next", "ours", 1, 1e6},
      {"branch", whole(standard.search.branch), "rewrites of each of them in a generation", "ours", 1, 1e6},
      repairs_option(standard.repairs, without_repairs()),
      evidence_option(without_evidence())};
}

SystemSearch greedy_refine(SystemSetup setup) {
  GreedyRefineSettings settings;
  settings.rewriter.common = agent_options(setup);
  settings.rewriter.common.evidence = setup.options.flag("evidence");
  settings.repairs = setup.options.count("repairs");
  settings.search.seed = setup.seed;
  settings.search.width = setup.options.count("width");
  settings.search.branch = setup.options.count("branch");
  return search_of_kernels(greedy_refine_parts(std::move(setup.model), setup.problem, std::move(settings)),
                           setup);
}

std::vector<SystemOption> stark_options() {
  const StarkSettings standard;
  return {
      {"root_children", whole(standard.search.root_children),
       "children of the root, after which it cannot be selected", "STARK, section 3.4", 1, 1e6},
      {"dead_children", whole(standard.search.dead_children),
       "a node with more children than these, all failed, cannot be selected", "STARK, section 3.4", 0, 1e6},
      {"epsilon", standard.search.epsilon, "probability of a random leaf", "STARK: 0.3 to 0.4", 0, 1},
      {"epsilon_decay", standard.search.epsilon_decay, "factor of epsilon for each trial told; 1: none",
       "STARK has none", 0, 1},
      {"least_epsilon", standard.search.least_epsilon, "where that decay stops", "ours", 0, 1},
      {"graded", standard.search.graded,
       "a failed node counts as its parent, slowed by what it lacks, instead of infinity",
       "STARK: failures count as infinity"},
      {"failures", whole(standard.search.limits.max_failures),
       "tries in a row without a kernel after which a node is given up", "ours", 1, 1e6},
      {"debugs", whole(standard.search.limits.debugs), "attempts to repair one failed kernel", "ours", 0,
       1e6},
      repaired_again_option(),
      {"several_regions",
       standard.team.several_regions,
       "a plan may change several regions of a kernel, e.g. device code and its launch",
       "ours",
       -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(),
       {},
       {{"paper", false, "STARK, section 3.2: anchors in one source"}}},
      listed_option(),
      evidence_option(without_evidence())};
}

SystemSearch stark(SystemSetup setup) {
  StarkSettings settings;
  settings.team.common = agent_options(setup);
  settings.team.common.evidence = setup.options.flag("evidence");
  settings.search.seed = setup.seed;
  settings.search.root_children = setup.options.count("root_children");
  settings.search.dead_children = setup.options.count("dead_children");
  settings.search.epsilon = setup.options.number("epsilon");
  settings.search.epsilon_decay = setup.options.number("epsilon_decay");
  settings.search.least_epsilon = setup.options.number("least_epsilon");
  settings.search.graded = setup.options.flag("graded");
  settings.search.limits.max_failures = setup.options.count("failures");
  settings.search.limits.debugs = setup.options.count("debugs");
  settings.search.limits.repaired_again = setup.options.flag("repaired_again");
  settings.team.several_regions = setup.options.flag("several_regions");
  settings.team.common.list_strategies = setup.options.flag("strategies");
  return search_of_kernels(stark_parts(std::move(setup.model), setup.problem, std::move(settings)), setup);
}

}  // namespace kernelsearch::systems::made
