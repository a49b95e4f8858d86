// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/machine.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/result_cache.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "learning.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "system_run.hpp"
#include "tune_options.hpp"
#include "validating.hpp"

namespace kernelsearch::app {
namespace {

/// A file that cannot be written must not be found out when everything has been measured.
void check_record(const std::filesystem::path& file) {
  if (file.empty()) return;
  if (!recording_format_of(file))
    detail::raise<ConfigError>("the record's name does not say its format", file.string(),
                               "end it in .json, .t4.json, .jsonl or .csv, with or without .gz");
  if (file.has_parent_path() && !std::filesystem::is_directory(file.parent_path()))
    detail::raise<ConfigError>("there is no such folder for the record", file.parent_path().string(),
                               "make it first");
}

/// Writes all that the run has measured, its earlier parts included.
void record(const TuneOptions& o, const RunStore& store, RunId run) {
  if (o.record.empty()) return;
  if (store.run(run).trials == 0) {
    fmt::print(stderr, "nothing was measured: no {}\n", o.record);
    return;
  }
  // Of a part of the space just that part is recorded.
  const bool whole = o.where.empty() && o.configs.empty();
  const Recording recording = recording_of(store, run, {.space = whole ? o.problem : ""});
  write_recording(recording, o.record);
  if (!o.quiet) fmt::print(stderr, "{} configurations recorded in {}\n", recording.trials.size(), o.record);
}

/// The search itself, on any evaluator of this machine.
template <class E>
int search_with(E evaluator, Plan& plan, RunStore& store, const Interrupt& interrupt,
                FinalistValidator validate = nullptr) {
  TuneOptions& o = plan.options;
  const Problem problem = evaluator.problem();
  // How it is measured belongs to what a result is reused for.
  const std::string digest = measurement_digest(problem, o.cache);
  if (!o.no_learning)
    for (std::string& run : runs_of(store, problem.name)) o.learn_from.push_back(std::move(run));
  std::vector<EarlierRun> earlier = earlier_runs(o.learn_from, problem.kernel.space, !o.quiet);
  const RunInfo info =
      run_info(o, evaluator.problem(), {evaluator.device_id(), evaluator.toolchain_id()}, digest);
  if (plan.resumed) check_same_context(*plan.resumed, info);
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  RunBudget budget = parse_budget(o.budget);
  if (!budget.trials && !budget.seconds && kernel->space.count().fits_u64())
    budget.trials = kernel->space.count().low();
  AnyPolicy<Config> policy =
      make_config_policy(o.policy, {kernel->space, o.seed, budget.trials, std::move(earlier)});

  auto results = std::make_shared<ResultCache>(store, ResultScope{digest, info.device, info.toolchain});
  auto key = result_key(results, !o.no_reuse);
  using Judge = Cached<E, decltype(key), ResultCache>;
  OptimizerOptions options;
  // A policy that learns would choose blindly what it is asked for early; with others compilers run ahead.
  const bool learns = o.policy != "exhaustive" && o.policy != "random";
  const unsigned ahead = std::is_same_v<E, GpuEvaluator> && !learns ? 4 : 1;
  options.in_flight = ahead * o.jobs + 2 * static_cast<unsigned>(evaluator.lanes());
  options.build_threads = o.jobs;
  options.stop = interrupt.token();
  if (budget.trials) options.budget = std::make_shared<TrialBudget>(*budget.trials);
  Optimizer search(std::move(policy), TemplateGenerator(kernel),
                   Judge(std::move(evaluator), std::move(key), results), options);

  const CandidateCodec<Candidate> codec(lookup_among({kernel}));
  RunId run{};
  if (plan.resumed) {
    run = plan.resumed->id;
    search.resume(load_record<Config>(store, run, codec));
    store.continue_run(run);
  } else {
    run = store.begin_run(info);
  }
  RunRecorder<Config> recorder(store, run, codec);

  if (!o.quiet)
    fmt::print(stderr, "run {} of {}: {} configurations, policy {}, budget {}\non {}, {}\n", number(run),
               problem.name, kernel->space.count().to_string(), o.policy, o.budget, info.device,
               info.toolchain);
  Progress progress(o.quiet, progress_options(budget, plan.resumed));

  RunLimits limits;
  limits.seconds = budget.seconds;
  if (o.target_speedup > 0) limits.speedup = o.target_speedup;
  if (o.no_gain > 0) limits.no_gain = o.no_gain;
  RunSummary summary = search.run(limits, recorder, progress);
  if (!interrupt.requested())
    measure_finalists_again(search, search.evaluator().inner(), interrupt.token(),
                            {.tell =
                                 [&o](TrialId id) {
                                   if (!o.quiet)
                                     fmt::print(stderr, "measuring finalist {} again\n", number(id));
                                 },
                             .validate = std::move(validate)},
                            recorder, progress);
  progress.close();
  store.end_run(run, summary.reason, summary.seconds);
  const bool found = search.best() != nullptr;
  const std::filesystem::path folder = o.out.empty() ? problem.name + "_tuned" : o.out;
  report_result(store, run, problem, found ? std::optional(folder) : std::nullopt, o.json,
                search.policy().learned());
  record(o, store, run);
  if (interrupt.requested()) return interrupted;
  return found ? success : nothing_found;
}

}  // namespace

int tune(const TuneOptions& given) {
  const Interrupt interrupt;
  check_record(given.record);
  RunStore store(given.store.empty() ? RunStore::default_path() : std::filesystem::path(given.store));
  Plan plan = make_plan(given, store);
  TuneOptions& o = plan.options;
  Problem problem = read_any_problem(o.problem);
  problem.kernel.space = narrowed(problem.kernel.space, o.where);
  if (!o.configs.empty()) problem.kernel.space = listed_in(problem.kernel.space, o.configs);
  if (o.evaluator != "auto" && o.evaluator != to_string(problem.backend))
    detail::raise<ConfigError>("the problem is for another evaluator", to_string(problem.backend),
                               "leave out --evaluator or change the problem's backend");
  const auto default_jobs = [&o] {  // once the measured core is given up
    if (o.jobs == 0) o.jobs = static_cast<unsigned>(std::max<std::size_t>(1, host_machine().cores.size()));
  };
  o.cache = cache_mode(measuring(o), problem.backend);
  if (!o.system.empty()) return tune_system(std::move(problem), plan, store, interrupt);
  if (is_gpu(problem.backend)) {
    default_jobs();
    FinalistValidator validate = make_validator(o, problem);
    return search_with(GpuEvaluator(std::move(problem), gpu_options(measuring(o))), plan, store, interrupt,
                       std::move(validate));
  }
  (void)make_validator(o, problem);  // says what to do instead
  const HostOptions host = host_options(measuring(o));
  HostEvaluator evaluator(std::move(problem), host);
  leave_core_to_measuring(host.core);
  default_jobs();
  return search_with(std::move(evaluator), plan, store, interrupt);
}

}  // namespace kernelsearch::app
