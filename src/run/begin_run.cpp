// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_facts.hpp"
#include "evaluator/host/peaks.hpp"
#include "finalist_validator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/run/change_recall.hpp"
#include "kernelsearch/run/lane_judge.hpp"
#include "kernelsearch/run/machine_text.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/run/observing_evaluator.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/store/json.hpp"
#include "lane_options.hpp"
#include "problem/metric.hpp"
#include "run_impl.hpp"
#include "run_plan.hpp"
#include "watched.hpp"
#include "writable.hpp"

namespace kernelsearch::detail {
namespace {

namespace fs = std::filesystem;

/// A file that cannot be written must not be found out when everything has been measured.
void check_record(const fs::path& file) {
  if (file.empty()) return;
  if (!recording_format_of(file))
    raise<ConfigError>("the record's name does not say its format", file.string(),
                       "end it in .json, .t4.json, .jsonl or .csv, with or without .gz");
  if (file.has_parent_path() && !fs::is_directory(file.parent_path()))
    raise<ConfigError>("there is no such folder for the record", file.parent_path().string(),
                       "make it first");
  require_writable_file(file, "the record");
}

/// Under what an evaluation is kept and found again: the candidate's content with what was observed of it, or
/// without `reuse` a key that no evaluation of this run or another one has.
RunKey result_key(std::shared_ptr<ResultCache> results, bool reuse, KeptAs kept, const Problem& problem) {
  // An output that is checked is a feature only where an objective reads it: other runs kept none.
  std::string read;
  for (const std::size_t a : metrics_of(problem))
    if (!is_unchecked(problem.arguments[a])) read += problem.arguments[a].name + " ";
  // Other runs looked into no code and read no meters, where they are not kept by that.
  const bool code = reads_code(problem.objectives) && kept == KeptAs::paired;
  const bool meters = reads_meters(problem.objectives) && kept != KeptAs::powered && kept != KeptAs::plain;
  const std::string seen = std::string(code ? "inspected " : "") + (meters ? "powered " : "");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string run = "fresh " + std::to_string(getpid()) + " " +
                          std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) +
                          " ";
  auto fresh = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto key = [results, reuse, kept, run, fresh, seen](const Candidate& candidate) {
    if (!reuse) return results->key(run + std::to_string(++*fresh));
    switch (kept) {
      case KeptAs::observed:
        return results->key("observed " + candidate_digest(candidate));
      // A time without its pair would leave a submitted kernel without a speedup.
      case KeptAs::paired:
        return results->key("paired " + seen + candidate_digest(candidate));
      case KeptAs::counted:
        return results->key("counted " + results->key(candidate));
      // Evaluations of versions that read no meters lack the energy.
      case KeptAs::powered:
        return results->key("powered " + results->key(candidate));
      case KeptAs::inspected:
        return results->key(seen + "inspected " + results->key(candidate));
      case KeptAs::plain:
        break;
    }
    return results->key(candidate);
  };
  return [results = std::move(results), key, read](const Candidate& candidate) {
    return read.empty() ? key(candidate) : results->key("metrics " + read + key(candidate));
  };
}

void open_store(RunImpl& run, RunParts& parts) {
  run.store = parts.store;
  if (run.store != nullptr) return;
  const fs::path& file = run.options().store;
  run.owned = std::make_unique<RunStore>(file.empty() ? RunStore::default_path() : file);
  run.store = run.owned.get();
}

/// The options that were left open, as this machine and the problem have them.
void fill_in(RunImpl& run, const RunPlan& plan) {
  RunOptions& o = run.options();
  o.measurement.cache = cache_mode(o.measurement, run.problem.backend);
  const bool host = !is_device(run.problem.backend);
  const std::vector<int> cores = host_machine().cores;
  if (o.measurement.core < 0 && host) o.measurement.core = free_core(cores);
  o.measurement.waits = [messages = run.messages](std::string_view text) { messages->waits(text); };
  o.measurement.notes = [messages = run.messages](std::string_view text) {
    messages->tell(std::string(text));
  };
  if (o.measurement.jobs == 0)
    o.measurement.jobs = static_cast<unsigned>(std::max<std::size_t>(1, cores.size() - (host ? 1 : 0)));
  if (o.budget.empty()) o.budget = plan.budget;
  run.budget = parse_budget(o.budget);
  if (plan.ends_with_space && !run.budget.trials && !run.budget.seconds &&
      run.problem.kernel.space.count().fits_u64())
    run.budget.trials = run.problem.kernel.space.count().low();
}

/// Refuses a problem whose results cannot be told from answers without any work; once, before the search.
void try_answers(const RunImpl& run, RunObserver& observer) {
  if (run.resumed || is_device(run.problem.backend)) return;
  const TrivialAnswers tried = try_trivial_answers(run.problem, host_options(run.stored.options.measurement));
  refuse_trivial_answers(run.problem, tried);
  for (const std::string& one : tried.left_out) observer.on_message("not tried: " + one);
  if (const auto found = openmp_in_one_thread(run.problem))
    observer.on_message(found->what + ": " + found->todo);
}

/// What judges on this machine, with what the search wants to know besides times.
AnyEvaluator make_judge(RunImpl& run, const RunPlan& plan, RunObserver& observer, KeptAs& kept) {
  const RunOptions& o = run.stored.options;
  try_answers(run, observer);
  std::vector<std::string> missing;
  AnyEvaluator evaluator = judge_of(plan.judge, run.problem, o.measurement, missing);
  for (const std::string& one : missing) observer.on_message("not observed: " + one);
  if (!plan.counters || run.problem.backend != Backend::cuda || !o.counters) return evaluator;
  bool counted = false;
  evaluator = with_counters(std::move(evaluator), gpu_options(o.measurement), counted, run.say());
  if (counted) kept = KeptAs::counted;
  return evaluator;
}

/// The same by workers. `asked` is how the user wants it measured, what depends on a machine left open.
AnyEvaluator make_remote_judge(RunImpl& run, const RunPlan& plan, const MeasurementOptions& asked) {
  const RunOptions& o = run.stored.options;
  if (!o.lanes.slurm.empty())
    run.slurm = SlurmAllocation::take(read_slurm_request(o.lanes.slurm), run.stop.get_token(), run.say());
  const SlurmAllocation* const taken = run.slurm ? &*run.slurm : o.lanes.allocation.get();
  if (taken != nullptr) {
    const double left = taken->seconds_left();
    if (std::isfinite(left)) run.budget.seconds = std::min(run.budget.seconds.value_or(left), left);
  }
  MeasurementOptions there = asked;
  there.cache = o.measurement.cache;
  RemoteOptions options =
      lane_options(o.lanes, std::move(there), plan.judge, run.slurm ? &*run.slurm : nullptr);
  if (run.resumed) options.device_id = run.resumed->info.device;
  options.say = run.say();
  options.stop = run.stop.get_token();
  run.remote.emplace(run.problem, std::move(options));
  return *run.remote;
}

/// What models are told of the machine and of how the problem is measured. A run that goes on tells the same.
void describe_machine(RunImpl& run, const AnyEvaluator& evaluator, bool own, SystemSetup& setup) {
  StoredOptions& stored = run.stored;
  const RunOptions& o = stored.options;
  if (stored.machine.empty()) {
    if (own || run.problem.external) {  // only the evaluator can say what it measures on
      stored.machine = machine_text(evaluator);
    } else {
      const MachineFacts facts = machine_facts(run.problem, o.measurement, evaluator.toolchain_id());
      stored.machine = machine_text(run.problem, facts);
      stored.peaks = peaks_text(facts.peaks);
    }
  }
  setup.hardware = stored.machine;
  add_features(setup.device, evaluator.features());
  setup.facts.peaks = read_peaks(stored.peaks).value_or(DevicePeaks{});
  setup.facts.cold = o.measurement.cache == "cold";
}

RunInfo info_of(const RunImpl& run, const RunPlan& plan, const AnyEvaluator& evaluator, bool own,
                const std::string& digest) {
  const RunOptions& o = run.stored.options;
  RunInfo info;
  info.name = o.name.empty() ? run.problem.name : o.name;
  info.problem = run.problem.name;
  info.problem_digest = digest;
  info.policy = plan.policy;
  info.generator = plan.generator;
  info.evaluator = to_string(run.problem.backend);
  info.seed = o.seed;
  info.device = evaluator.device_id();
  info.toolchain = evaluator.toolchain_id();
  info.options = encode_options(run.stored);
  info.environment = environment_of(run.problem.backend,
                                    run.remote ? run.remote->sandbox()
                                    : own      ? ""
                                          : description_of(chosen_sandbox(run.stored.options.measurement)));
  return info;
}

/// What became of the lanes, for the reason that the store keeps of a run's end.
std::function<std::string()> remarks_of(const RunImpl& run) {
  if (!run.remote) return nullptr;
  return [remote = *run.remote] { return lane_remarks(remote.reports()); };
}

OptimizerOptions loop_of(const RunImpl& run, const RunPlan& plan, std::size_t lanes,
                         const std::stop_token& stop) {
  const RunOptions& o = run.stored.options;
  OptimizerOptions loop;
  const std::size_t jobs = run.remote ? run.remote->build_places() : o.measurement.jobs;
  if (plan.proposals > 0)
    loop.in_flight = plan.proposals;
  else
    loop.in_flight = o.lanes.in_flight > 0 ? o.lanes.in_flight : plan.ahead * jobs + 2 * lanes;
  loop.generate_threads = std::max<std::size_t>(plan.proposals, 1);
  loop.build_threads = jobs;
  loop.objectives = run.problem.objectives;
  loop.stop = stop;
  loop.budget = std::make_shared<TrialBudget>(run.budget.trials.value_or(TrialBudget::unlimited));
  return loop;
}

/// The keys that this process knows of, for texts that are kept.
Redactor known_keys(const RunOptions& o) {
  Redactor redactor;
  redactor.add_environment();
  try {
    for (const Endpoint& endpoint : read_model_file(find_model_file(o.models.file)).models) {
      const auto add = [&redactor](const std::string& name) {
        if (const char* key = name.empty() ? nullptr : std::getenv(name.c_str())) redactor.add(key);
      };
      add(endpoint.key_env);
      for (const auto& header : endpoint.headers)
        if (header.second.rfind("env:", 0) == 0) add(header.second.substr(4));
    }
  } catch (const ConfigError&) {  // no model file, or none that can be read: no model of it is asked
  }
  return redactor;
}

/// What keeps a run's changes for later runs, and what its prompts show of earlier ones.
std::shared_ptr<ChangeRecorder> remember(RunImpl& run, SystemSetup& setup, bool own,
                                         std::shared_ptr<AskedMoves> asked) {
  std::optional<DevicePeaks> peaks;
  if (own || !run.problem.operations || !run.problem.bytes) {
    // There is no roofline to place changes in.
  } else if (!run.stored.peaks.empty()) {
    peaks = setup.facts.peaks;  // those that models are told of, also when the run is continued elsewhere
  } else {
    const std::vector<int>& devices = run.options().measurement.devices;
    try {
      peaks = device_peaks(run.problem, devices.empty() ? 0 : devices.front());
    } catch (const Error&) {  // then the memory says nothing of limits
    }
  }
  const RunRow row = run.store->run(run.id);
  if (run.stored.memory > 0)
    setup.recall = recall_from(*run.store, run.problem, row.info.device, peaks, run.stored.memory);
  return std::make_shared<ChangeRecorder>(
      *run.store,
      ChangeSource{row, run.problem, memory_traits(run.problem), peaks, known_keys(run.options())},
      std::move(asked));
}

/// Makes the search of a run whose options, store and problem are known.
void begin(RunImpl& run, RunParts& parts) {
  RunOptions& o = run.options();
  RunObserver nobody;
  run.observer = parts.observer;
  RunObserver& observer = parts.observer != nullptr ? *parts.observer : nobody;
  const Listening listening(*run.messages, &observer);
  if (!o.objectives.empty()) run.problem.objectives = Objectives::parse(o.objectives);
  if (!run.problem.objectives.only_time()) o.objectives = run.problem.objectives.text();
  run.problem.kernel.space = narrowed(run.problem.kernel.space, o.where);
  if (!o.configs.empty()) run.problem.kernel.space = listed_in(run.problem.kernel.space, o.configs);
  Beginning begun{run, parts, observer};
  const RunPlan plan = plan_run(begun);

  const MeasurementOptions as_asked = o.measurement;
  const bool elsewhere =
      !parts.evaluator && (!o.lanes.pools.empty() || !o.lanes.launched.empty() || !o.lanes.slurm.empty());
  fill_in(run, plan);
  if (!parts.evaluator) fill_generated_sizes(run.problem, host_options(o.measurement));
  Validation validation = make_validator(o, run.problem, parts.evaluator.has_value(), observer);
  // An evaluator of one's own says nothing besides times.
  KeptAs kept = parts.evaluator && plan.kept != KeptAs::paired ? KeptAs::plain : plan.kept;
  const bool own = run.foreign = parts.evaluator.has_value() || elsewhere;
  AnyEvaluator evaluator = elsewhere ? make_remote_judge(run, plan, as_asked)
                           : own     ? *std::move(parts.evaluator)
                                     : make_judge(run, plan, observer, kept);
  if (!own && !is_device(run.problem.backend)) run.core = o.measurement.core;
  if (const std::string problem = own ? std::string() : lock_problem(); !problem.empty())
    observer.on_message("no locks, so another kernelsearch may measure at the same time: " + problem +
                        "; set KERNELSEARCH_LOCKS to a folder that all users may write");

  begun.digest = measurement_digest(run.problem, o.measurement.cache);
  begun.device = evaluator.device_id();
  if (plan.learn) plan.learn(begun);
  if (plan.tells_machine) describe_machine(run, evaluator, own, begun.setup);
  const RunInfo info = info_of(run, plan, evaluator, own, begun.digest);
  if (run.resumed) {
    check_same_context(*run.resumed, info);
    const std::string changed = changed_environment(run.resumed->info.environment, info.environment);
    if (!changed.empty()) observer.on_message(changed);
  }
  if (plan.check) plan.check(begun);

  run.id = run.resumed ? run.resumed->id : run.store->begin_run(info);
  run.lock.emplace(run.store->file(), run.id);
  if (plan.open) plan.open(begun);
  std::shared_ptr<ChangeRecorder> changes;
  if (plan.writes) changes = remember(run, begun.setup, own, begun.asked);
  OptimizerOptions loop = loop_of(run, plan, evaluator.lanes(), run.ending.get_token());
  RunLimits limits;
  limits.seconds = run.budget.seconds;
  if (o.target_speedup > 0) limits.speedup = o.target_speedup;
  if (o.no_gain > 0) limits.no_gain = o.no_gain;
  const ResultDevice kept_under = result_device(run.problem.backend, info.device);
  auto results = std::make_shared<ResultCache>(
      *run.store, ResultScope{begun.digest, kept_under.device, info.toolchain, kept_under.former});
  RunJudge judge(WatchedEvaluator(std::move(evaluator), run.messages),
                 result_key(results, o.reuse, kept, run.problem), results);
  CheckpointValidation checkpoints{std::move(validation.until), validation.feature, 0, run.say()};
  SearchContext context{
      .store = *run.store,
      .run = run.id,
      .problem = run.problem,
      .budget = run.budget,
      .limits = limits,
      .stop = run.stop.get_token(),
      .trials = loop.budget,
      .validate = std::move(validation.validate),
      .validated = std::move(validation.feature),
      .ending = run.ending,
      .first_begun = run.resumed ? RunClock::now() : run.begun,
      .reuse = o.reuse,
      .changes = std::move(changes),
      .checkpoints = std::move(checkpoints),
      .remarks = remarks_of(run),
      .finalists = [sink = run.messages](bool on) { sink->finalists(on); },
      .pairs = finalist_pairs(o.measurement),
      .gate = run.gate,
  };
  run.search = plan.search(begun, std::move(context), std::move(judge), std::move(loop));
}

/// A run with its options, its store and its stop, and nothing of a problem yet.
std::unique_ptr<RunImpl> opened_run(RunOptions options, RunParts& parts) {
  auto run = std::make_unique<RunImpl>();
  run->stored.options = std::move(options);
  split_system(run->options());
  if (parts.stop.stop_possible())
    run->forward.emplace(parts.stop, [source = run->stop]() mutable { source.request_stop(); });
  run->forward_end.emplace(run->stop.get_token(),
                           [source = run->ending]() mutable { source.request_stop(); });
  check_record(run->options().record);
  if (!run->options().out.empty()) require_writable_folder(run->options().out, "the winner's files");
  open_store(*run, parts);
  return run;
}

}  // namespace

std::unique_ptr<RunImpl> start_run(const Problem& problem, RunOptions options, RunParts parts) {
  auto run = opened_run(std::move(options), parts);
  run->stored.problem = parts.problem_path.string();
  run->stored.problem_text = parts.problem_text;
  run->stored.baseline = parts.baseline_path.string();
  run->problem = problem;
  begin(*run, parts);
  return run;
}

std::unique_ptr<RunImpl> resume_run(std::string_view number_or_name, RunOptions options, RunParts parts) {
  auto run = opened_run(std::move(options), parts);
  run->resumed = run->store->find_run(number_or_name);
  if (!run->resumed)
    raise<ConfigError>("no run to resume", number_or_name, "see `kernelsearch runs` for what there is");
  check_given_again(*run->resumed, run->stored.options, run->store->file());
  run->stored = resumed_options(*run->resumed, std::move(run->stored.options));
  if (!parts.problem_path.empty()) run->stored.problem = parts.problem_path.string();
  if (!parts.problem && run->stored.problem.empty())
    raise<ConfigError>("the problem of this run was not read from a file", run->resumed->info.problem,
                       "give it again, as RunParts::problem");
  StoredOptions named = run->stored;  // by the store, and not given again
  if (parts.problem) {
    named.problem.clear();
    if (baseline_of(*parts.problem) != nullptr) named.baseline.clear();
  }
  if (const std::string sources = stored_sources(named); parts.observer != nullptr && !sources.empty())
    parts.observer->on_message("run " + std::to_string(number(run->resumed->id)) +
                               " reads what its store names: " + sources);
  run->problem = parts.problem ? *std::move(parts.problem) : read_problem(run->stored.problem);
  if (!run->stored.baseline.empty() && baseline_of(run->problem) == nullptr)
    add_baseline(run->problem, run->stored.baseline);
  begin(*run, parts);
  return run;
}

}  // namespace kernelsearch::detail
