// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/systems/peak.hpp"
#include "made_kernel_systems.hpp"

/// PEAK by name: its options, and the workflow that a run keeps.
namespace kernelsearch::systems::made {
namespace {

constexpr std::size_t never_back = 1'000'000;  // steps without a gain: no list is as long
constexpr std::size_t paper_carried = 128;
constexpr std::size_t paper_samples = 15;  // with the best the 16 that PEAK samples (section 4.3)

/// Names between commas.
std::vector<std::string> peak_names(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.push_back(std::move(name));
    at = end + 1;
  }
  return names;
}

WorkflowOptions peak_search(const SystemOptions& given) {
  WorkflowOptions options;
  options.patience = given.count("patience");
  options.retries = given.count("retries");
  options.middle_retries = given.count("middle_retries");
  options.min_gain = given.number("min_gain");
  return options;
}

/// An option that a run was begun with and that it goes on with.
void refuse_other(const nlohmann::json& stored, const char* name, const std::string& now) {
  if (const std::string then = stored.value(name, ""); then != now)
    detail::raise<ConfigError>(std::string("a run that goes on keeps its option ") + name, now,
                               then.empty() ? "leave it out: this run was begun without one"
                                            : "leave it out; this run was begun with " + then);
}

}  // namespace

std::vector<SystemOption> peak_options() {
  const PeakSettings standard;
  return {
      {.name = "workflow",
       .standard = std::string(),
       .summary =
           "the transformations and their order: a name of `kernelsearch list workflows`, or a JSON file "
           "(docs/formats/workflows.md); empty: all that fit the problem, in the order that what the kernel "
           "is "
           "short of says",
       .source = "ours; PEAK, section 4.3, has its users write the sequence",
       .path = SystemPath::file},
      {"present", std::string(),
       "transformations that the problem's kernel has already, with commas between: others may build on them",
       "ours"},
      {"patience",
       whole(standard.workflow.patience),
       "steps without a gain before work goes on from the best checkpoint",
       "ours, after PEAK, section 5.1: preparatory steps gain nothing",
       0,
       never_back,
       {},
       {{"paper", whole(never_back), "PEAK, section 5.1: every step of a sequence is applied"}}},
      {"retries", whole(standard.workflow.retries), "further tries of a transformation that failed",
       "PEAK, section 5.2", 0, 1000},
      {"middle_retries",
       whole(standard.workflow.middle_retries),
       "the same again for the middle third of the list",
       "ours",
       0,
       1000,
       {},
       {{"paper", whole(0), "PEAK has none"}}},
      {"min_gain",
       standard.workflow.min_gain,
       "a step that gains less is without a gain",
       "ours",
       0,
       1,
       {},
       {{"paper", 0.0, "PEAK has none"}}},
      evidence_option({{"paper", false, "PEAK, section 4.3: the list's order alone"}}),
      {"inner_trials", static_cast<std::int64_t>(standard.tuning.max_trials),
       "trials of the search over one kernel's tunables", "ours; the paper enumerates them", 1, 1e9},
      {"carried",
       whole(standard.tuning.carried),
       "a kernel's best configurations that the next one's search begins with, after the best of all",
       "ours: more than few of them leave nothing for the search",
       0,
       1e6,
       {},
       {{"paper", whole(paper_carried), "PEAK, section 4.2"}}},
      {"validated_samples",
       std::int64_t{3},
       "where a validator is asked for: right configurations of each new kernel that it sees besides the "
       "best",
       "ours: a tool takes seconds for each",
       0,
       1000,
       {},
       {{"paper", whole(paper_samples), "PEAK, section 4.3"}}}};
}

WorkflowOptions peak_workflow_of(const SystemOptions& given, std::string_view settings) {
  return with_workflow_plan(peak_search(given), settings);
}

std::string peak_settings(const SystemSetup& setup) {
  refuse_module(setup.problem, "this system's transformations are edits of C++, CUDA, HIP and shaders");
  const std::string named = setup.options.text("workflow"), present = setup.options.text("present");
  if (!setup.earlier.empty()) {
    const auto stored = nlohmann::json::parse(setup.earlier, nullptr, false);
    refuse_other(stored.value("given", nlohmann::json::object()), "workflow", named);
    refuse_other(stored.value("given", nlohmann::json::object()), "present", present);
    return setup.earlier;
  }
  PeakSettings settings;
  settings.library = TransformationLibrary(setup.methods);
  settings.workflows = read_workflows(setup.methods);
  settings.workflow = peak_search(setup.options);
  settings.workflow.present = peak_names(present);
  if (!named.empty()) settings.named = find_workflow(named, setup.methods);
  auto plan = nlohmann::ordered_json::parse(workflow_plan_text(peak_workflow(setup.problem, settings)));
  plan["given"] = {{"workflow", named}, {"present", present}};
  return plan.dump();
}

SystemSearch peak(SystemSetup setup) {
  if (setup.earlier.empty()) setup.earlier = peak_settings(setup);
  NaturalTransformationsOptions asking;
  asking.device = setup.hardware;
  asking.facts = setup.facts;
  asking.prompts = PromptLibrary(setup.methods);
  asking.stop = setup.stop;
  asking.log = setup.log;
  asking.recall = setup.recall;
  WorkflowOptions workflow = peak_workflow_of(setup.options, setup.earlier);
  workflow.short_of = shortage_of(setup.problem, setup.facts);
  asking.evidence = setup.options.flag("evidence");
  if (asking.evidence)
    workflow.evidence = evidence_of_transformations(setup.problem, TransformationLibrary(setup.methods));
  workflow.edits = std::move(setup.checkpoint_edits);
  const NaturalTransformations transform(setup.problem.kernel, TransformationLibrary(setup.methods),
                                         std::move(setup.model), known(setup.problem, std::move(asking)));
  return {.parts = SearchParts<Move>{Workflow(std::move(workflow)), transform},
          .kernel_of = [transform](Regions regions) { return transform.kernel_of(std::move(regions)); },
          .inner = InnerSearch{TunesByBayes{},
                               {.max_trials = setup.options.count("inner_trials"),
                                .seed = setup.seed,
                                .carried = setup.options.count("carried")},
                               true,
                               setup.options.count("validated_samples")}};
}

}  // namespace kernelsearch::systems::made
