// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/systems/cuda_skill_v2/cuda_skill_v2.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_report.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"
#include "systems/made_systems.hpp"

namespace kernelsearch::systems::made {

namespace {

/// A decision that the authors' scripts make otherwise than the post and we do.
SystemOption skill_choice(const char* name, const char* summary, std::vector<std::string> choices,
                          const char* source, const char* published) {
  SystemOption option{name, choices.front(), summary, source};
  option.variants = {{"paper", choices.back(), published}};
  option.choices = std::move(choices);
  return option;
}

bool is_published(const SystemOptions& given, const char* name, const char* published) {
  return given.text(name) == published;
}

}  // namespace

std::vector<SystemOption> cuda_skill_v2_options() {
  const RooflineBudgetOptions standard;
  return {
      {"iterations", whole(standard.iterations), "rounds of methods", "the skill, V2", 1, 100},
      {"branches", whole(standard.branches), "implementations of each round's methods", "the skill, V2", 1,
       64},
      {"rewrites", whole(standard.rewrites), "attempts to repair a round without a right kernel",
       "the skill, V2", 0, 64},
      {"pairs", whole(standard.pairs), "pairs of methods that are taken out together in each round", "ours",
       0, 64},
      {"noise", standard.noise, "least relative difference in time that counts", "the skill, V2", 0, 1},
      {"from_frontier", standard.from_frontier,
       "after a round without gain go on from the best branch that was not chosen", "ours"},
      skill_choice(
          "gaps",
          "known: what was not measured does not count as a gap, and the roof caps all three; published: a "
          "missing metric is a full gap, and every stall is waiting",
          {"known", "published"}, "ours: docs/roofline.md", "the skill's roofline.py"),
      skill_choice("budget", "known: slots go to axes with a known gap; published: there are always three",
                   {"known", "published"}, "ours: docs/roofline.md", "the skill's roofline.py"),
      skill_choice("rewriting",
                   "where no branch is right: the furthest is repaired, or all are written again",
                   {"furthest", "all"}, "the skill's post, 2.3", "the skill's branch_explore.py"),
      skill_choice("filing",
                   "paired: kernels are timed in pairs and intervals count; times: two times are compared "
                   "with the noise alone, and a missing ablation speaks against its method",
                   {"paired", "times"}, "ours: docs/measuring.md", "the skill's ablate.py, state.py"),
      {.name = "from_files",
       .standard = std::string(),
       .summary = "folder of kernels that a person or an agent writes; empty: a model is asked",
       .source = "ours",
       .path = SystemPath::folder},
      {"wait", 0.0, "seconds to wait for each of these files; 0: only what is there", "ours", 0, 1e9}};
}

namespace {

RooflineBudgetOptions search_options(const SystemSetup& setup) {
  std::vector<Method> methods = read_methods(to_string(setup.problem.backend), setup.methods);
  if (!setup.earlier.empty()) return read_skill_settings(setup.earlier, std::move(methods));
  RooflineBudgetOptions search;
  search.methods = std::move(methods);
  search.iterations = setup.options.count("iterations");
  search.branches = setup.options.count("branches");
  search.rewrites = setup.options.count("rewrites");
  search.pairs = setup.options.count("pairs");
  search.noise = setup.options.number("noise");
  search.from_frontier = setup.options.flag("from_frontier");
  search.as_published = {
      is_published(setup.options, "gaps", "published"), is_published(setup.options, "budget", "published"),
      is_published(setup.options, "rewriting", "all"), is_published(setup.options, "filing", "times")};
  search.device = setup.device;
  return search;
}

}  // namespace

std::string cuda_skill_v2_settings(const SystemSetup& setup) {
  return skill_settings_json(search_options(setup));
}

SystemSearch cuda_skill_v2(SystemSetup setup) {
  CudaSkillV2Settings settings;
  settings.search = search_options(setup);
  settings.search.seed = setup.seed;
  const std::string folder = setup.options.text("from_files");
  auto made = [&]() -> SystemSearch {
    if (folder.empty()) {
      settings.writer.common = agent_options(setup);
      auto [policy, generator] = cuda_skill_v2_parts(std::move(setup.model), setup.problem, settings);
      return {.parts = SearchParts<Move>{std::move(policy), std::move(generator)}};
    }
    settings.files.folder = folder;
    settings.files.hardware = setup.hardware;
    settings.files.facts = setup.facts;
    settings.files.wait_seconds = setup.options.number("wait");
    settings.files.stop = setup.stop;
    settings.files.say = setup.say;
    auto [policy, generator] = cuda_skill_v2_parts(setup.problem, settings);
    // One file after the other: who writes them is told of one at a time, and may look at what came of it.
    return {.parts = SearchParts<Move>{std::move(policy), std::move(generator)},
            .one_at_a_time = true,
            .report_folder = folder};
  }();
  made.kernel_of = kernels_of(setup.problem);
  made.pair_with_parent = !settings.search.as_published.filing;
  made.report = [problem = setup.problem, search = settings.search](const RunStore& store, RunId run,
                                                                    const std::filesystem::path& to,
                                                                    const DevicePeaks& peaks) {
    write_skill_report(store, run, problem, replayed_skill(store, run, search), to, peaks);
    return to / "summary.md";
  };
  made.progress = [problem = setup.problem, search = settings.search](const RunStore& store, RunId run,
                                                                      const std::filesystem::path& to,
                                                                      const DevicePeaks& peaks) {
    write_skill_state(store, run, problem, replayed_skill(store, run, search), to, peaks);
  };
  return made;
}

}  // namespace kernelsearch::systems::made
