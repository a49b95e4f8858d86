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

#include "best_known.hpp"
#include "device_facts.hpp"
#include "evaluator/host/peaks.hpp"
#include "finalist_validator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/external/external_policy.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/run/change_recall.hpp"
#include "kernelsearch/run/lane_judge.hpp"
#include "kernelsearch/run/machine_text.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/narrowed_space.hpp"
#include "kernelsearch/run/observing_evaluator.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "kernelsearch/store/json.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "lane_options.hpp"
#include "learning.hpp"
#include "run_impl.hpp"
#include "shader/ready_module.hpp"
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
    nlohmann::json options = o.system_options.empty() ? nlohmann::json::object()
                                                      : parse_json(o.system_options, "the system's options");
    options["inner_trials"] = *o.inner_trials;
    o.system_options = json_text(options);
    o.inner_trials.reset();
  }
  if (o.inner_trials.value_or(0) > 0 && !system.tunes)
    raise<ConfigError>("this system writes no kernels that it could tune", std::string(system.name),
                       "leave out --inner-trials");
  if (o.inner_trials.value_or(0) > 100'000)
    raise<ConfigError>("so many trials of one kernel are none", std::to_string(*o.inner_trials),
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

/// How evaluations are kept apart in the store by what was observed besides times.
enum class Kept : std::uint8_t { plain, inspected, counted, observed, paired };

/// Under what an evaluation is kept and found again: the candidate's content with what was observed of it, or
/// without `reuse` a key that no evaluation of this run or another one has.
RunKey result_key(std::shared_ptr<ResultCache> results, bool reuse, Kept kept) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string run = "fresh " + std::to_string(getpid()) + " " +
                          std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()) +
                          " ";
  auto fresh = std::make_shared<std::atomic<std::uint64_t>>(0);
  return [results = std::move(results), reuse, kept, run, fresh](const Candidate& candidate) {
    if (!reuse) return results->key(run + std::to_string(++*fresh));
    switch (kept) {
      case Kept::observed:
        return results->key("observed " + candidate_digest(candidate));
      // A time without its pair would leave a submitted kernel without a speedup.
      case Kept::paired:
        return results->key("paired " + candidate_digest(candidate));
      case Kept::counted:
        return results->key("counted " + results->key(candidate));
      case Kept::inspected:
        return results->key("inspected " + results->key(candidate));
      case Kept::plain:
        break;
    }
    return results->key(candidate);
  };
}

void open_store(RunImpl& run, RunParts& parts) {
  run.store = parts.store;
  if (run.store != nullptr) return;
  const fs::path& file = run.options().store;
  run.owned = std::make_unique<RunStore>(file.empty() ? RunStore::default_path() : file);
  run.store = run.owned.get();
}

/// The policy from outside that the options name, if any; they then have its name.
std::optional<ExternalPolicy> external_policy(RunOptions& o, bool resumed) {
  if (o.policy_command.empty() && o.policy_plugin.empty()) return std::nullopt;
  if (!o.policy_command.empty() && !o.policy_plugin.empty())
    raise<ConfigError>("a policy is one, a command or of a plug-in", o.policy_command,
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
  for (ExternalPolicy& policy : policies) {
    names += (names.empty() ? "" : ", ") + policy.name;
    if (policy.name != o.policy && !(o.policy.empty() && policies.size() == 1)) continue;
    o.policy = policy.name;
    return std::move(policy);
  }
  raise<ConfigError>("the plug-in has no policy of that name", o.policy, "name one of its: " + names);
}

/// The options that were left open, as this machine and the problem have them.
void fill_in(RunImpl& run) {
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
  if (o.budget.empty()) o.budget = run.system != nullptr ? std::string(run.system->budget) : "200";
  run.budget = parse_budget(o.budget);
  if (run.system == nullptr && o.policy != "submit" && !run.budget.trials && !run.budget.seconds &&
      run.problem.kernel.space.count().fits_u64())
    run.budget.trials = run.problem.kernel.space.count().low();
}

/// What the search wants to know besides times, and under what its results are kept.
JudgeKind judge_kind(const RunImpl& run, Kept& kept) {
  if (run.system != nullptr && run.system->observation == ObservationLevel::everything) {
    kept = Kept::observed;
    return JudgeKind::observed;
  }
  if (run.system == nullptr && run.stored.options.policy == "submit") {
    kept = Kept::paired;
    return JudgeKind::paired;
  }
  if (run.system == nullptr || !run.system->rewrites || !run.system->asks) return JudgeKind::plain;
  // Who writes kernels is told of the machine code and of the place in the roofline.
  kept = Kept::inspected;
  return JudgeKind::inspected;
}

/// Refuses a problem whose results cannot be told from answers without any work; once, before the search.
void try_answers(const RunImpl& run, RunObserver& observer) {
  if (run.resumed || is_device(run.problem.backend)) return;
  const TrivialAnswers tried = try_trivial_answers(run.problem, host_options(run.stored.options.measurement));
  refuse_trivial_answers(run.problem, tried);
  for (const std::string& one : tried.left_out) observer.on_message("not tried: " + one);
}

/// What judges on this machine, with what the search wants to know besides times.
AnyEvaluator make_judge(RunImpl& run, RunObserver& observer, Kept& kept) {
  const RunOptions& o = run.stored.options;
  try_answers(run, observer);
  const JudgeKind kind = judge_kind(run, kept);
  std::vector<std::string> missing;
  AnyEvaluator evaluator = judge_of(kind, run.problem, o.measurement, missing);
  for (const std::string& one : missing) observer.on_message("not observed: " + one);
  if (kind != JudgeKind::inspected || run.system->observation != ObservationLevel::counters ||
      run.problem.backend != Backend::cuda || !o.counters)
    return evaluator;
  bool counted = false;
  evaluator = with_counters(std::move(evaluator), gpu_options(o.measurement), counted, run.say());
  if (counted) kept = Kept::counted;
  return evaluator;
}

/// The same by workers. `asked` is how the user wants it measured, what depends on a machine left open.
AnyEvaluator make_remote_judge(RunImpl& run, const MeasurementOptions& asked, Kept& kept) {
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
      lane_options(o.lanes, std::move(there), judge_kind(run, kept), run.slurm ? &*run.slurm : nullptr);
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
    if (own || run.problem.external) {  // only an evaluator of one's own can say what it measures on
      stored.machine =
          "- device: " + evaluator.device_id() + "\n- compiler: " + evaluator.toolchain_id() + '\n';
    } else {
      const MachineFacts facts = machine_facts(run.problem, o.measurement, evaluator.toolchain_id());
      stored.machine = machine_text(run.problem, facts);
      stored.peaks = peaks_text(facts.peaks);
    }
  }
  setup.hardware = stored.machine;
  setup.facts.peaks = read_peaks(stored.peaks).value_or(DevicePeaks{});
  setup.facts.cold = o.measurement.cache == "cold";
}

RunInfo info_of(const RunImpl& run, const AnyEvaluator& evaluator, bool own, const std::string& digest) {
  const RunOptions& o = run.stored.options;
  RunInfo info;
  info.name = o.name.empty() ? run.problem.name : o.name;
  info.problem = run.problem.name;
  info.problem_digest = digest;
  info.policy = run.system != nullptr ? o.system : o.policy;
  info.generator = run.system != nullptr  ? std::string(run.system->composition)
                   : o.policy == "submit" ? "submit"
                                          : "template";
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

OptimizerOptions loop_of(const RunImpl& run, std::size_t lanes, const std::stop_token& stop) {
  const RunOptions& o = run.stored.options;
  OptimizerOptions loop;
  const std::size_t jobs = run.remote ? run.remote->build_places() : o.measurement.jobs;
  // A policy that learns would choose blindly what it is asked for early; with others compilers run ahead.
  const bool learns =
      run.system != nullptr || (policy_name(o.policy) != "exhaustive" && policy_name(o.policy) != "random");
  const unsigned ahead = is_device(run.problem.backend) && !learns ? 4 : 1;
  const bool rewrites = run.system != nullptr && run.system->rewrites;
  loop.in_flight = rewrites ? o.proposals : ahead * jobs + 2 * lanes;
  if (!rewrites && o.lanes.in_flight > 0) loop.in_flight = o.lanes.in_flight;
  loop.generate_threads = rewrites ? o.proposals : 1;
  loop.build_threads = jobs;
  loop.stop = stop;
  loop.budget = std::make_shared<TrialBudget>(run.budget.trials.value_or(TrialBudget::unlimited));
  return loop;
}

/// A run that is continued had usable replies where it has a kernel that is not the problem's own.
void see_earlier_kernels(const RunStore& store, RunId run, ModelWatch& watch) {
  store.each_trial(run, [&](const StoredTrial& trial) {
    if (!trial.outcome.parents.empty() && has_candidate(trial.outcome.evaluation.verdict))
      watch.see_earlier();
  });
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

/// The same parts, which make no candidate while the run is paused.
template <class P>
void let_pause(const RunImpl& run, SearchParts<P>& parts) {
  parts.generator =
      PausedGenerator<P>{std::move(parts.generator), run.messages, run.gate, run.ending.get_token()};
}

/// Makes the search of a run whose options, store and problem are known.
void begin(RunImpl& run, RunParts& parts) {
  RunOptions& o = run.options();
  RunObserver nobody;
  run.observer = parts.observer;
  RunObserver& observer = parts.observer != nullptr ? *parts.observer : nobody;
  const Listening listening(*run.messages, &observer);
  run.problem.kernel.space = narrowed(run.problem.kernel.space, o.where);
  if (!o.configs.empty()) run.problem.kernel.space = listed_in(run.problem.kernel.space, o.configs);
  SystemSetup setup;
  bool learns = false;  // from moves
  if (!o.system.empty()) {
    run.system = &find_system(o.system);
    settle_tuning(o, *run.system, run.resumed.has_value());
    setup.options = SystemOptions(run.system->name, run.system->options, o.system_options);
    settle_variant(o, *run.system, setup.options, run.resumed.has_value());
    learns = run.system->learns != nullptr && run.system->learns(setup.options);
    check_usable(o, *run.system, learns, run.problem);
  } else if (o.inner_trials && !run.resumed) {
    raise<ConfigError>("a policy searches the problem's kernel itself", "--inner-trials",
                       "leave it out, or name a --system that writes kernels");
  }
  std::optional<ExternalPolicy> external = external_policy(o, run.resumed.has_value());
  if (run.system == nullptr && !external && o.policy != "submit" && !parts.policy && !parts.make_policy)
    o.policy = choose_policy(o.policy).text();  // as it is stored, and found again by a run that goes on
  const MeasurementOptions as_asked = o.measurement;
  const bool elsewhere =
      !parts.evaluator && (!o.lanes.pools.empty() || !o.lanes.launched.empty() || !o.lanes.slurm.empty());
  fill_in(run);
  if (!parts.evaluator) fill_generated_sizes(run.problem, host_options(o.measurement));
  const bool submits = run.system == nullptr && o.policy == "submit";
  Validation validation = make_validator(o, run.problem, parts.evaluator.has_value(), observer);
  Kept kept = submits ? Kept::paired : Kept::plain;
  const bool own = run.foreign = parts.evaluator.has_value() || elsewhere;
  AnyEvaluator evaluator = elsewhere ? make_remote_judge(run, as_asked, kept)
                           : own     ? *std::move(parts.evaluator)
                                     : make_judge(run, observer, kept);
  if (!own && !is_device(run.problem.backend)) run.core = o.measurement.core;
  if (const std::string problem = own ? std::string() : lock_problem(); !problem.empty())
    observer.on_message("no locks, so another kernelsearch may measure at the same time: " + problem +
                        "; set KERNELSEARCH_LOCKS to a folder that all users may write");

  const std::string digest = measurement_digest(run.problem, o.measurement.cache);
  std::vector<EarlierRun> earlier;
  if (run.system == nullptr && !submits) {
    if (o.learn)
      for (std::string& one : runs_of(*run.store, run.problem.name)) o.learn_from.push_back(std::move(one));
    o.learn_from = each_source(o.learn_from);
    earlier = earlier_runs(o.learn_from, run.problem.kernel.space, observer);
  }
  if (learns) {
    const std::string backend(to_string(run.problem.backend));
    if (o.learn)
      for (std::string& one : move_runs_of(*run.store, run.problem.name, backend))
        o.learn_from.push_back(std::move(one));
    o.learn_from = each_move_source(o.learn_from, backend);
    setup.examples = earlier_moves(o.learn_from, observer);
  }
  if (run.system != nullptr) {
    setup.problem = run.problem;
    setup.seed = o.seed;
    setup.budget = run.budget.trials;
    setup.inner_trials = *o.inner_trials;
    setup.methods = o.methods;
    setup.earlier = run.stored.system_settings;
    setup.stop = run.ending.get_token();
    setup.say = run.say();
    setup.device = method_device(run.problem, o.measurement.devices);
    if (run.system->settings != nullptr) {
      run.stored.system_settings = setup.earlier = run.system->settings(setup);
    }
    if (run.resumed && run.system->workflow != nullptr) {
      setup.checkpoint_edits = placed_checkpoint_edits(*run.store, run.resumed->id);
      if (const std::size_t count = setup.checkpoint_edits.size(); count > 0)
        observer.on_message(
            fmt::format("its checkpoints were changed {} {}: `kernelsearch checkpoints {}` shows "
                        "where it goes on",
                        count, count == 1 ? "time" : "times", number(run.resumed->id)));
    }
  }
  // Whoever writes the files of a folder is asked about the problem's own default.
  if (run.system != nullptr && run.system->from_best && !setup.options.given(run.system->instead_of_model)) {
    const Space& space = run.problem.kernel.space;
    if (run.resumed) {
      setup.root = config_of_values(space, run.stored.root);
    } else if (o.root == "best") {
      if (const auto known = best_known(*run.store, run.problem, digest, evaluator.device_id())) {
        setup.root = known->config;
        run.stored.root = known->values;
        observer.on_message(told(space, *known));
      }
    }
  }
  const bool asks =
      run.system != nullptr && run.system->asks && !setup.options.given(run.system->instead_of_model);
  // Whoever writes the files of a folder is told what a model would be.
  if (submits || (run.system != nullptr && run.system->asks)) describe_machine(run, evaluator, own, setup);
  const bool rewrites = submits || (run.system != nullptr && run.system->rewrites);
  if (!run.resumed && run.system != nullptr && rewrites && o.memory)
    run.stored.memory = run.store->last_change();
  const RunInfo info = info_of(run, evaluator, own, digest);
  if (run.resumed) {
    check_same_context(*run.resumed, info);
    const std::string changed = changed_environment(run.resumed->info.environment, info.environment);
    if (!changed.empty()) observer.on_message(changed);
  }
  const auto exchanges = [&](RunId id) {
    return o.models.record.empty() ? exchanges_of(run.store->file(), number(id)) : fs::path(o.models.record);
  };
  // What cannot be used is found out before a run stands in the store.
  if (asks && !parts.model && !run.resumed) (void)open_models(o.models, exchanges(RunId{}));
  if (submits) (void)make_move_policy(o.suggest, o.strategies, o.seed, run.problem.backend);
  std::optional<SystemSearch> made;
  if (run.system == nullptr && !submits) {
    const Space& space = run.problem.kernel.space;
    const PolicySetup policy_setup{space, o.seed, run.budget.trials, std::move(earlier)};
    made = SystemSearch{
        .parts = SearchParts<Config>{parts.policy        ? *std::move(parts.policy)
                                     : parts.make_policy ? parts.make_policy(policy_setup)
                                     : external          ? external->make(policy_setup)
                                                         : make_config_policy(o.policy, policy_setup),
                                     TemplateGenerator(std::make_shared<const Kernel>(run.problem.kernel))}};
  }

  run.id = run.resumed ? run.resumed->id : run.store->begin_run(info);
  run.lock.emplace(run.store->file(), run.id);
  if (asks && parts.model) {
    setup.model = std::move(parts.model);
  } else if (asks) {
    run.models = open_models(o.models, exchanges(run.id), run.say());
    setup.model = run.models->model;
  }
  auto asked = std::make_shared<AskedMoves>();
  if (asks) {
    run.watch = std::make_shared<ModelWatch>(run.say());
    if (run.resumed && run.system->rewrites) see_earlier_kernels(*run.store, run.id, *run.watch);
    setup.log = [asked, watch = run.watch,
                 faults = run.models ? run.models->faults : nullptr](const Exchange& exchange) {
      asked->add(exchange);
      if (faults) faults->add(exchange.judgement.fault);
      watch->see(exchange);
    };
  }
  std::shared_ptr<ChangeRecorder> changes;
  if (rewrites) changes = remember(run, setup, own, asked);
  if (setup.model) setup.model = WatchedModel{std::move(setup.model), run.messages, run.gate};
  OptimizerOptions loop = loop_of(run, evaluator.lanes(), run.ending.get_token());
  if (run.system != nullptr) {
    made = run.system->make(std::move(setup));
    run.report = made->report;
    run.progress = made->progress;
    run.report_folder = made->report_folder;
    if (made->one_at_a_time) loop.generate_threads = 1;
  }
  if (made) std::visit([&run](auto& its) { let_pause(run, its); }, made->parts);
  RunLimits limits;
  limits.seconds = run.budget.seconds;
  if (o.target_speedup > 0) limits.speedup = o.target_speedup;
  if (o.no_gain > 0) limits.no_gain = o.no_gain;
  const ResultDevice kept_under = result_device(run.problem.backend, info.device);
  auto results = std::make_shared<ResultCache>(
      *run.store, ResultScope{digest, kept_under.device, info.toolchain, kept_under.former});
  RunJudge judge(WatchedEvaluator(std::move(evaluator), run.messages), result_key(results, o.reuse, kept),
                 results);
  CheckpointValidation checkpoints{std::move(validation.until), validation.feature, 0, run.say()};
  SearchContext context{*run.store,
                        run.id,
                        run.problem,
                        run.budget,
                        limits,
                        run.stop.get_token(),
                        loop.budget,
                        std::move(validation.validate),
                        std::move(validation.feature),
                        run.ending,
                        run.resumed ? RunClock::now() : run.begun,
                        o.reuse,
                        std::move(changes),
                        std::move(checkpoints),
                        remarks_of(run),
                        [sink = run.messages](bool on) { sink->finalists(on); },
                        finalist_pairs(o.measurement),
                        run.gate};
  run.search = submits ? make_submit_search(std::move(context), o, std::move(judge), std::move(loop))
                       : make_search(std::move(context), *std::move(made), std::move(judge), std::move(loop));
}

/// A run with its options, its store and its stop, and nothing of a problem yet.
std::unique_ptr<RunImpl> opened_run(RunOptions options, RunParts& parts) {
  auto run = std::make_unique<RunImpl>();
  run->stored.options = std::move(options);
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
