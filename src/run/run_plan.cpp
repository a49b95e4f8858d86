// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "best_known.hpp"
#include "device_facts.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/external_policy.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "kernelsearch/store/json.hpp"
#include "learning.hpp"
#include "shader/ready_module.hpp"
#include "watched.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

/// Takes inner trials over to a system that has its own option for them, fills in what was not given, and
/// refuses what the system cannot be asked for.
void settle_tuning(RunOptions& o, const SystemEntry& system, bool resumed) {
  const bool own = std::any_of(system.options.begin(), system.options.end(),
                               [](const SystemOption& one) { return one.name == "inner_trials"; });
  if (!o.root.empty() && o.root != "best" && o.root != "default")
    raise<ConfigError>("a search begins at the best known configuration or at the default", o.root,
                       "give --root best or --root default");
  if (!resumed && !o.root.empty() && !system.from_best)
    raise<ConfigError>("this system always begins at the default", std::string(system.name),
                       "leave out --root");
  if (own && !resumed && o.inner_trials) {
    nlohmann::json options = o.system_options.empty()
                                 ? nlohmann::json::object()
                                 : kernelsearch::parse_json(o.system_options, "the system's options");
    options["inner_trials"] = *o.inner_trials;
    o.system_options = json_text(options);
    o.inner_trials.reset();
  }
  if (o.inner_trials.value_or(0) > 0 && !system.tunes)
    raise<ConfigError>("this system writes no kernels that it could tune", std::string(system.name),
                       "leave out --inner-trials");
  if (o.inner_trials.value_or(0) > 100'000)
    raise<ConfigError>("there cannot be that many trials of one kernel", std::to_string(*o.inner_trials),
                       "give at most 100000 inner trials");
}

/// Fills in what a variant decides besides the system's own options, where nothing else was said: a paper's
/// tunes no kernel, begins at the default and shows models nothing of earlier runs.
void settle_variant(RunOptions& o, const SystemEntry& system, const SystemOptions& given, bool resumed) {
  o.system_options = given.json();  // a later version may have other standard values
  const bool published = system.variant_of(given).published;
  if (o.root.empty()) o.root = published || !system.from_best ? "default" : "best";
  if (resumed) return;
  if (published) o.memory = false;
  if (!o.inner_trials) o.inner_trials = system.tunes && !published ? usual_inner_trials : 0;
}

/// What a system cannot be asked for.
void check_usable(const RunOptions& o, const SystemEntry& system, bool learns, const Problem& problem) {
  if (!problem.objectives.only_time() && !system.needs_times.empty())
    raise<ConfigError>(fmt::format("{} goes by the time alone: {}", system.name, system.needs_times),
                       problem.objectives.text(),
                       "search the tunables with a policy, e.g. nsga2, or with the system helion_lfbo, hand "
                       "kernels in with the policy submit, or give --objectives time");
  if (!o.learn_from.empty() && !learns)
    raise<ConfigError>("this system, as it is chosen, learns from no earlier runs", "--learn-from",
                       "leave it out, or search with a policy");
  if (system.rewrites && is_ready_file(problem.names.device))
    raise<ConfigError>("a ready module of SPIR-V has no source that a model could rewrite",
                       problem.names.device,
                       "name the shader's source as the kernel, or search its tunables with a policy");
  if (system.rewrites && !o.configs.empty())
    raise<ConfigError>("this system writes kernels", "--configs", "leave it out");
  if (system.rewrites && !o.record.empty())
    raise<ConfigError>("recordings hold configurations of one kernel", "--record",
                       "leave it out; `kernelsearch export` writes what the run did");
}

/// The policy from outside that the options name, if any; they then have its name.
std::optional<ExternalPolicy> external_policy(RunOptions& o, bool resumed) {
  if (o.policy_command.empty() && o.policy_plugin.empty()) return std::nullopt;
  if (!o.policy_command.empty() && !o.policy_plugin.empty())
    raise<ConfigError>("a command and a plug-in are both given, and a run has one policy", o.policy_command,
                       "leave one of them out");
  if (!o.system.empty())
    raise<ConfigError>("a system brings its own policy", o.system, "leave out --system, or your policy");
  if (!o.policy_command.empty()) {
    if (o.policy_folder.empty()) o.policy_folder = fs::current_path();
    ExternalPolicy policy = command_policy(o.policy_command, {o.policy_folder, o.policy_timeout});
    if (!resumed) o.policy = policy.name;
    return policy;
  }
  std::vector<ExternalPolicy> policies = load_policy_plugin(o.policy_plugin);
  std::string names;
  for (const ExternalPolicy& policy : policies) {
    names += (names.empty() ? "" : ", ") + policy.name;
    if (policy.name != policy_name(o.policy) && !(o.policy.empty() && policies.size() == 1)) continue;
    ExternalPolicy chosen = with_options(policy, o.policy.empty() ? policy.name : o.policy);
    o.policy = chosen.name;
    return chosen;
  }
  raise<ConfigError>("the plug-in has no policy of that name", o.policy, "name one of its: " + names);
}

/// A run that is continued had usable replies where it has a kernel that is not the problem's own.
void see_earlier_kernels(const RunStore& store, RunId run, ModelWatch& watch) {
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.outcome.parents.empty() && has_candidate(trial.outcome.evaluation.verdict))
      watch.see_earlier();
  });
}

/// The same parts, which make no candidate while the run is paused.
template <class P>
void let_pause(const RunImpl& run, SearchParts<P>& parts) {
  parts.generator =
      PausedGenerator<P>{std::move(parts.generator), run.messages, run.gate, run.ending.get_token()};
}

/// The search over what the parts propose.
std::unique_ptr<KernelSearch> search_of(const RunImpl& run, SystemSearch made, SearchContext context,
                                        RunJudge judge, OptimizerOptions loop) {
  std::visit([&run](auto& its) { let_pause(run, its); }, made.parts);
  return make_search(std::move(context), std::move(made), std::move(judge), std::move(loop));
}

void refuse_inner_trials(const Beginning& begun) {
  if (begun.run.options().inner_trials && !begun.run.resumed)
    raise<ConfigError>("a policy searches the problem's kernel itself", "--inner-trials",
                       "leave it out, or name a --system that writes kernels");
}

/// Has observed what the objectives of configurations read.
void observe_objectives(RunPlan& plan, const Objectives& objectives) {
  if (reads_code(objectives)) {
    plan.judge = JudgeKind::inspected;
    plan.kept = KeptAs::inspected;
  } else if (reads_meters(objectives)) {
    plan.kept = KeptAs::powered;
  }
}

// ---- A policy searches the tunables of the problem's kernel --------------------

void learn_from_runs(Beginning& begun) {
  RunOptions& o = begun.run.options();
  if (o.learn)
    for (std::string& one : runs_of(*begun.run.store, begun.run.problem.name))
      o.learn_from.push_back(std::move(one));
  o.learn_from = each_source(o.learn_from);
  begun.earlier = earlier_runs(o.learn_from, begun.run.problem.kernel.space, begun.observer);
}

SystemSearch policy_search(Beginning& begun, const std::optional<ExternalPolicy>& external) {
  const RunOptions& o = begun.run.options();
  const PolicySetup setup{begun.run.problem.kernel.space, o.seed, begun.run.budget.trials,
                          std::move(begun.earlier),       true,   begun.run.problem.objectives};
  RunParts& parts = begun.parts;
  return {.parts = SearchParts<Config>{
              parts.policy        ? *std::move(parts.policy)
              : parts.make_policy ? parts.make_policy(setup)
              : external          ? external->make(setup)
                                  : make_config_policy(o.policy, setup),
              TemplateGenerator(std::make_shared<const Kernel>(begun.run.problem.kernel))}};
}

RunPlan plan_policy_run(Beginning& begun, std::optional<ExternalPolicy> external) {
  RunOptions& o = begun.run.options();
  if (!external && !begun.parts.policy && !begun.parts.make_policy)
    o.policy = choose_policy(o.policy).text();  // as it is stored, and found again by a run that goes on
  RunPlan plan{.policy = o.policy, .generator = "template", .ends_with_space = true};
  // A policy that learns would choose blindly what it is asked for early; with others compilers run ahead.
  const bool learns = policy_name(o.policy) != "exhaustive" && policy_name(o.policy) != "random";
  if (is_device(begun.run.problem.backend) && !learns) plan.ahead = 4;
  observe_objectives(plan, begun.run.problem.objectives);
  plan.learn = learn_from_runs;
  auto made = std::make_shared<std::optional<SystemSearch>>();
  plan.check = [made, external = std::move(external)](Beginning& at) {
    made->emplace(policy_search(at, external));
  };
  plan.search = [made](Beginning& at, SearchContext context, RunJudge judge, OptimizerOptions loop) {
    return search_of(at.run, *std::move(*made), std::move(context), std::move(judge), std::move(loop));
  };
  return plan;
}

// ---- Kernels are submitted from outside --------------------

RunPlan plan_submit_run(Beginning& begun) {
  RunPlan plan{.policy = "submit", .generator = "submit", .judge = JudgeKind::paired, .kept = KeptAs::paired};
  // Machine code is looked into next to the pairs.
  if (reads_code(begun.run.problem.objectives)) begun.run.options().measurement.inspect = true;
  plan.tells_machine = plan.writes = true;
  plan.check = [](Beginning& at) {
    const RunOptions& o = at.run.options();
    (void)make_move_policy(o.suggest, o.strategies, o.seed, at.run.problem.backend);
  };
  plan.search = [](Beginning& at, SearchContext context, RunJudge judge, OptimizerOptions loop) {
    return make_submit_search(std::move(context), at.run.options(), std::move(judge), std::move(loop));
  };
  return plan;
}

// ---- A published system --------------------

fs::path exchanges(const RunImpl& run, RunId id) {
  const std::string& folder = run.stored.options.models.record;
  return folder.empty() ? exchanges_of(run.store->file(), number(id)) : fs::path(folder);
}

void learn_from_moves(Beginning& begun) {
  RunOptions& o = begun.run.options();
  const std::string backend(to_string(begun.run.problem.backend));
  if (o.learn)
    for (std::string& one : move_runs_of(*begun.run.store, begun.run.problem.name, backend))
      o.learn_from.push_back(std::move(one));
  o.learn_from = each_move_source(o.learn_from, backend);
  begun.setup.examples = earlier_moves(o.learn_from, begun.observer);
}

/// Where a system begins that can begin at another configuration than the default.
void find_root(Beginning& begun) {
  RunImpl& run = begun.run;
  const Space& space = run.problem.kernel.space;
  if (run.resumed) {
    begun.setup.root = config_of_values(space, run.stored.root);
  } else if (run.options().root == "best") {
    if (const auto known = best_known(*run.store, run.problem, begun.digest, begun.device)) {
      begun.setup.root = known->config;
      run.stored.root = known->values;
      begun.observer.on_message(told(space, *known));
    }
  }
}

void set_up(Beginning& begun, const SystemEntry& system) {
  RunImpl& run = begun.run;
  const RunOptions& o = run.options();
  SystemSetup& setup = begun.setup;
  setup.problem = run.problem;
  setup.seed = o.seed;
  setup.budget = run.budget.trials;
  setup.inner_trials = *o.inner_trials;
  setup.methods = o.methods;
  setup.earlier = run.stored.system_settings;
  setup.stop = run.ending.get_token();
  setup.say = run.say();
  setup.device = method_device(run.problem, o.measurement.devices);
  if (system.settings != nullptr) run.stored.system_settings = setup.earlier = system.settings(setup);
  if (run.resumed && system.workflow != nullptr) {
    setup.checkpoint_edits = placed_checkpoint_edits(*run.store, run.resumed->id);
    if (const std::size_t count = setup.checkpoint_edits.size(); count > 0)
      begun.observer.on_message(fmt::format(
          "its checkpoints were changed {} {}: `kernelsearch checkpoints {}` shows where it goes on", count,
          count == 1 ? "time" : "times", number(run.resumed->id)));
  }
  // Questions to the writer of a folder's files are about the problem's own default.
  if (system.from_best && !setup.options.given(system.instead_of_model)) find_root(begun);
  if (!run.resumed && system.rewrites && o.memory) run.stored.memory = run.store->last_change();
}

void open_system_models(Beginning& begun, bool rewrites) {
  RunImpl& run = begun.run;
  if (begun.parts.model) {
    begun.setup.model = std::move(begun.parts.model);
  } else {
    run.models = open_models(run.options().models, exchanges(run, run.id), run.say());
    begun.setup.model = run.models->model;
  }
  run.watch = std::make_shared<ModelWatch>(run.say());
  if (run.resumed && rewrites) see_earlier_kernels(*run.store, run.id, *run.watch);
  begun.setup.log = [asked = begun.asked, watch = run.watch,
                     faults = run.models ? run.models->faults : nullptr](const Exchange& exchange) {
    asked->add(exchange);
    if (faults) faults->add(exchange.judgement.fault);
    watch->see(exchange);
  };
}

RunPlan plan_system_run(Beginning& begun) {
  RunImpl& run = begun.run;
  RunOptions& o = run.options();
  const SystemEntry& system = find_system(o.system);
  run.system = &system;
  settle_tuning(o, system, run.resumed.has_value());
  begun.setup.options = SystemOptions(system.name, system.options, o.system_options);
  settle_variant(o, system, begun.setup.options, run.resumed.has_value());
  const bool learns = system.learns != nullptr && system.learns(begun.setup.options);
  check_usable(o, system, learns, run.problem);

  RunPlan plan{
      .policy = o.system, .generator = std::string(system.composition), .budget = std::string(system.budget)};
  plan.tells_machine = system.asks;
  plan.writes = system.rewrites;
  if (system.rewrites) plan.proposals = o.proposals;
  if (system.observation == ObservationLevel::everything) {
    plan.judge = JudgeKind::observed;
    plan.kept = KeptAs::observed;
  } else if (system.rewrites && system.asks) {
    // The writer of kernels is told of the machine code and of the place in the roofline.
    plan.judge = JudgeKind::inspected;
    plan.kept = KeptAs::inspected;
    plan.counters = system.observation == ObservationLevel::counters;
  } else {
    observe_objectives(plan, run.problem.objectives);
  }
  plan.learn = [&system, learns](Beginning& at) {
    if (learns) learn_from_moves(at);
    set_up(at, system);
  };
  if (system.asks && !begun.setup.options.given(system.instead_of_model)) {
    plan.check = [](Beginning& at) {
      if (!at.parts.model && !at.run.resumed)
        (void)open_models(at.run.options().models, exchanges(at.run, RunId{}));
    };
    plan.open = [&system](Beginning& at) { open_system_models(at, system.rewrites); };
  }
  plan.search = [&system](Beginning& at, SearchContext context, RunJudge judge, OptimizerOptions loop) {
    if (at.setup.model)
      at.setup.model = WatchedModel{std::move(at.setup.model), at.run.messages, at.run.gate};
    SystemSearch made = system.make(std::move(at.setup));
    at.run.report = made.report;
    at.run.progress = made.progress;
    at.run.report_folder = made.report_folder;
    if (made.one_at_a_time) loop.generate_threads = 1;
    return search_of(at.run, std::move(made), std::move(context), std::move(judge), std::move(loop));
  };
  return plan;
}

}  // namespace

RunPlan plan_run(Beginning& begun) {
  RunOptions& o = begun.run.options();
  if (!o.system.empty()) {
    (void)external_policy(o, begun.run.resumed.has_value());  // refuses one next to a system
    return plan_system_run(begun);
  }
  refuse_inner_trials(begun);
  std::optional<ExternalPolicy> external = external_policy(o, begun.run.resumed.has_value());
  return o.policy == "submit" ? plan_submit_run(begun) : plan_policy_run(begun, std::move(external));
}

}  // namespace kernelsearch::detail
