// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "counters.hpp"
#include "kernelsearch/evaluator/host/machine.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/observing_evaluator.hpp"
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"
#include "result.hpp"
#include "system_run.hpp"
#include "validating.hpp"

namespace kernelsearch::app {
namespace {

namespace fs = std::filesystem;

/// What a run was begun with must be what it goes on with.
void check_usable(const Plan& plan, const SystemEntry& system) {
  const TuneOptions& o = plan.options;
  if (!o.learn_from.empty())
    detail::raise<ConfigError>("a system learns from no earlier runs", "--learn-from",
                               "leave it out, or search with a policy");
  if (system.rewrites && !o.configs.empty())
    detail::raise<ConfigError>("this system writes kernels", "--configs", "leave it out");
  if (!o.from_files.empty() && system.name != "cuda_skill_v2")
    detail::raise<ConfigError>("only cuda_skill_v2 takes kernels from files", "--from-files",
                               "leave it out; any agent can hand kernels in through `kernelsearch mcp`");
  if (system.rewrites && !o.record.empty())
    detail::raise<ConfigError>("recordings hold configurations of one kernel", "--record",
                               "leave it out; `kernelsearch export` writes what the run did");
}

nlohmann::ordered_json spending(const AskedModels& models) {
  nlohmann::ordered_json out = nlohmann::ordered_json::parse(models.ledger->json());
  out["faults"] = models.faults->json();
  out["exchanges"] = models.folder.string();
  return out;
}

std::string spending_text(const AskedModels& models) {
  std::string text = models.ledger->text();
  if (const std::string faults = models.faults->text(); !faults.empty())
    text += fmt::format("{:<10} {}\n", "faults", faults);
  return text + fmt::format("{:<10} {}\n", "exchanges", models.folder.string());
}

/// Says once what cannot be looked at here.
AnyEvaluator observing(const Problem& problem, const MeasurementOptions& how, bool quiet) {
  ObservingEvaluator made = make_observing_evaluator(problem, how);
  if (!quiet)
    for (const std::string& one : made.missing) fmt::print(stderr, "not observed: {}\n", one);
  return std::move(made.evaluator);
}

}  // namespace

std::function<std::string(const Candidate&)> result_key(std::shared_ptr<ResultCache> results, bool reuse,
                                                        Seen seen) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string run = "fresh " + std::to_string(getpid()) + " " +
                          std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) +
                          " ";
  auto fresh = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [results = std::move(results), reuse, seen, run, fresh](const Candidate& candidate) {
    if (!reuse) return results->key(run + std::to_string(++*fresh));
    if (seen == Seen::all) return results->key("observed " + candidate_digest(candidate));
    return seen == Seen::counters ? results->key("counted " + results->key(candidate))
                                  : results->key(candidate);
  };
}

int tune_system(Problem problem, Plan& plan, RunStore& store, const Interrupt& interrupt) {
  TuneOptions& o = plan.options;
  const SystemEntry& system = find_system(o.system);
  check_usable(plan, system);
  const MeasurementOptions how = measuring(o);
  const bool on_host = problem.backend == Backend::host;
  const bool skill = system.name == "cuda_skill_v2";
  FinalistValidator validate = make_validator(o, problem);
  AnyEvaluator evaluator = skill ? observing(problem, how, o.quiet) : make_evaluator(problem, how);
  bool counted = false;
  if (system.name == "kernelband" && problem.backend == Backend::cuda && !o.no_counters)
    evaluator = with_counters(std::move(evaluator), gpu_options(how), counted);
  if (on_host) leave_core_to_measuring(host_options(how).core);
  if (o.jobs == 0) o.jobs = static_cast<unsigned>(std::max<std::size_t>(1, host_machine().cores.size()));

  const bool asks = system.asks && o.from_files.empty();
  if (skill) o.skill = skill_settings_json(skill_search(o, problem));
  const std::string digest = measurement_digest(problem, o.cache);
  const RunInfo info = run_info(o, problem, {evaluator.device_id(), evaluator.toolchain_id()}, digest);
  if (plan.resumed) check_same_context(*plan.resumed, info);
  AskedModels models;
  const RunId run = plan.resumed ? plan.resumed->id : RunId{};
  const auto exchanges = [&](RunId id) {
    return o.record_exchanges.empty() ? exchanges_of(store.file(), number(id)) : fs::path(o.record_exchanges);
  };
  // A model file that cannot be used is found out before a run stands in the store.
  if (asks && !plan.resumed) (void)open_models(o, exchanges(run));
  SystemRun started{plan,
                    system,
                    problem,
                    store,
                    run,
                    interrupt,
                    parse_budget(o.budget),
                    {},
                    {},
                    info.device,
                    std::move(validate)};
  if (plan.resumed)
    store.continue_run(run);
  else
    started.run = store.begin_run(info);
  if (asks) started.models = open_models(o, exchanges(started.run));

  const RunBudget& budget = started.budget;
  started.loop.in_flight =
      system.rewrites ? o.proposals : o.jobs + 2 * static_cast<unsigned>(evaluator.lanes());
  started.loop.generate_threads = system.rewrites ? o.proposals : 1;
  started.loop.build_threads = o.jobs;
  started.loop.stop = interrupt.token();
  started.loop.budget = std::make_shared<TrialBudget>(budget.trials.value_or(TrialBudget::unlimited));
  auto results = std::make_shared<ResultCache>(store, ResultScope{digest, info.device, info.toolchain});
  const Seen seen = skill ? Seen::all : counted ? Seen::counters : Seen::times;
  SystemJudge judge(std::move(evaluator), result_key(results, !o.no_reuse, seen), results);
  if (!o.quiet)
    fmt::print(stderr, "run {} of {}: system {} ({}), budget {}\non {}, {}\n", number(started.run),
               problem.name, system.name, system.composition, o.budget, info.device, info.toolchain);

  const RunSummary summary = skill                   ? run_skill(started, std::move(judge))
                             : system.name == "peak" ? run_peak(started, std::move(judge))
                             : system.rewrites       ? run_over_kernels(started, std::move(judge))
                                                     : run_over_configs(started, std::move(judge));
  const fs::path folder = o.out.empty() ? problem.name + "_tuned" : o.out;
  SystemReport report{.rewrites = system.rewrites};
  if (asks && o.json)
    report.json = spending(started.models).dump();
  else if (asks)
    report.text = spending_text(started.models);
  report_result(store, started.run, problem, summary.best ? std::optional(folder) : std::nullopt, o.json, {},
                report);
  if (interrupt.requested()) return interrupted;
  return summary.best ? success : nothing_found;
}

}  // namespace kernelsearch::app
