// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>
#include <fmt/core.h>
#include <sched.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "comparing_tools.hpp"
#include "hostile/equal_kernels.hpp"
#include "judge_bench.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "kernelsearch/run/export_plan.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/run/run.hpp"

#if defined(KERNELSEARCH_BENCH_EXTERNAL)
#  include "external/scripted_evaluator.hpp"
#  include "kernelsearch/external/external_evaluator.hpp"
#endif

// Every way that prints a ratio, on kernels that are equal (`aa`) or differ by three steps in a hundred
// (`ab`): how many intervals miss 1, and how far the medians are from it.
namespace judge_bench {
namespace {

using namespace kernelsearch;
using equal::Ratio;

constexpr int extra_percent = 3;

/// Ratios by the way that printed them.
using Printed = std::vector<std::pair<std::string, Ratio>>;

void add(Printed& printed, const std::string& way, const std::optional<Ratio>& ratio) {
  if (ratio) printed.emplace_back(way, *ratio);
}

/// What one job measures with.
struct Place {
  int core = 0;
  std::filesystem::path scratch;
  std::string command;                   ///< the program kernelsearch, for lanes; empty: there is none
  Sandbox sandbox = Sandbox::automatic;  ///< of what is built and run
};

HostOptions host_options_of(const Place& place) {
  HostOptions options;
  options.core = place.core;
  options.sandbox = place.sandbox;
  options.cache_directory = place.scratch / "cache";
  options.pairs.when = Pairing::always;
  return options;
}

/// One problem with what is kept of it between repeats, as a command keeps it between candidates.
class Subject {
 public:
  Subject(equal::Kernel kernel, int extra, Place place)
      : kernel_(std::move(kernel)), problem_(equal::problem_of(kernel_, extra)), place_(std::move(place)) {}

  [[nodiscard]] const equal::Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] HostEvaluator& host() {
    if (!host_) host_ = std::make_unique<HostEvaluator>(problem_, host_options_of(place_));
    return *host_;
  }
  [[nodiscard]] GpuEvaluator& device() {
    if (!device_) {
      GpuOptions options;
      options.sandbox = place_.sandbox;
      options.cache_directory = place_.scratch / "cache";
      options.pairs.when = Pairing::always;
      device_ = std::make_unique<GpuEvaluator>(problem_, options);
    }
    return *device_;
  }
  /// Twins take turns, so that none is always the one that was looked at first.
  [[nodiscard]] Candidate next_twin() { return equal::twin(problem_, 1 + turn_++ % 3); }
  [[nodiscard]] Candidate champion() const { return equal::twin(problem_, 0); }

 private:
  equal::Kernel kernel_;
  Problem problem_;
  Place place_;
  std::unique_ptr<HostEvaluator> host_;
  std::unique_ptr<GpuEvaluator> device_;
  int turn_ = 0;
};

Evaluation right(Evaluation evaluation) {
  if (evaluation.verdict != Verdict::ok)
    kernelsearch::detail::raise<ConfigError>("an equal kernel is refused", evaluation.reason,
                                             "look at it alone");
  return evaluation;
}

/// What a trial prints, and what a finalist does.
Printed by_reference(Subject& subject) {
  Printed printed;
  EvaluationContext context;
  const auto add_ratio = [&](const char* name) {
    add(printed, name,
        equal::ratio_of(right(subject.host().evaluate(subject.next_twin(), context)).measurement.speedup));
  };
  add_ratio("trial");
  context.finalist = true;
  add_ratio("reference");
  return printed;
}

Printed by_compare(Subject& subject) {
  Printed printed;
  add(printed, "compare",
      equal::ratio_of(
          subject.host().compare(subject.next_twin(), subject.champion(), FinalistSteps().pairs)));
  return printed;
}

Printed by_parent(Subject& subject) {
  PairedWithParent<HostEvaluator> paired(HostEvaluator(subject.problem(), host_options_of(subject.place())));
  EvaluationContext context;
  context.trial = TrialId{1};
  (void)right(paired.evaluate(subject.champion(), context));
  context.trial = TrialId{2};
  context.parents = {TrialId{1}};
  Printed printed;
  add(printed, "parent", equal::ratio_to_parent(right(paired.evaluate(subject.next_twin(), context))));
  return printed;
}

/// Two kernels that are tuned one after the other, each with one configuration.
Printed by_tuning(Subject& subject) {
  const auto alone = [&](const Candidate& candidate) {
    Problem problem = subject.problem();
    Kernel kernel = *candidate.kernel;
    const std::string twin = to_string(kernel.space.value(candidate.config, 0));
    kernel.regions.device = "#undef TWIN\n#define TWIN " + twin + "\n" + kernel.regions.device;
    return Candidate{std::make_shared<const Kernel>(std::move(kernel)),
                     candidate.kernel->space.default_config()};
  };
  Tuned tuned([](const Space& space, std::uint64_t) { return Exhaustive(space); },
              HostEvaluator(subject.problem(), host_options_of(subject.place())),
              TunedOptions{.max_trials = 1, .pairs = FinalistSteps().pairs});
  EvaluationContext context;
  context.trial = TrialId{1};
  (void)right(tuned.evaluate(alone(subject.champion()), context));
  context.trial = TrialId{2};
  context.parents = {TrialId{1}};
  Printed printed;
  add(printed, "tuned", equal::ratio_to_parent(right(tuned.evaluate(alone(subject.next_twin()), context))));
  return printed;
}

RunOptions run_options(const Subject& subject) {
  RunOptions options{.policy = "exhaustive", .budget = "4", .learn = false, .memory = false, .reuse = false};
  options.bounds = false;
  options.measurement.core = subject.place().core;
  options.measurement.jobs = 1;
  options.store = subject.place().scratch / (subject.kernel().name + ".db");
  return options;
}

/// The trials of twin `number` and of the default.
std::optional<TrialId> trial_of(const RunStore& store, RunId run, const Problem& problem, int number) {
  for (const StoredTrial& trial : store.trials(run))
    if (trial.outcome.ok() && trial.candidate &&
        trial.candidate->key == problem.kernel.space.key(equal::twin(problem, number).config))
      return trial.outcome.id;
  return std::nullopt;
}

/// What one run prints: its finalists, its best, what is compared of it afterwards, and its plan.
Printed by_run(Subject& subject, const RunOptions& options, const std::string& prefix) {
  std::filesystem::remove(options.store);
  RunStore store(options.store);
  RunParts parts;
  parts.store = &store;
  Run run = Run::start(subject.problem(), options, std::move(parts));
  run.to_end();
  Printed printed;
  if (prefix.empty()) {
    const auto twin = trial_of(store, run.id(), subject.problem(), 1),
               champion = trial_of(store, run.id(), subject.problem(), 0);
    if (twin && champion) add(printed, "mcp", equal::ratio_of(run.compare(*twin, *champion)));
  }
  const RunResult result = run.finish();
  if (result.finalists)
    for (const FinalistPair& pair : result.finalists->pairs)
      add(printed, prefix + (pair.opponent ? "finalists" : "default"), equal::ratio_of(pair.speedup));
  if (result.best)
    add(printed, prefix + "best", equal::ratio_of(result.best->outcome.evaluation.measurement.speedup));
  if (!prefix.empty()) return printed;
  const PlanExport made = export_plan(store, result.run, subject.problem(),
                                      {.never_worse = false, .measure = measuring_on(options.measurement)});
  for (const ProblemPlan& part : made.plan.parts())
    for (const PlanEntry& entry : part.entries) add(printed, "plan", equal::ratio_of(entry.over_default));
  return printed;
}

Printed by_own_run(Subject& subject) {
  return by_run(subject, run_options(subject), "");
}

Printed by_remote_run(Subject& subject) {
  RunOptions options = run_options(subject);
  options.lanes.pools = {launch_pool("local")};
  options.lanes.pools.front().worker = subject.place().command;
  return by_run(subject, options, "remote ");
}

Printed by_device(Subject& subject) {
  const std::string clock = subject.kernel().launches ? "outside " : "events ";
  Printed printed;
  add(printed, clock + "reference",
      equal::ratio_of(right(subject.device().evaluate(subject.next_twin(), {})).measurement.speedup));
  add(printed, clock + "compare",
      equal::ratio_of(
          subject.device().compare(subject.next_twin(), subject.champion(), FinalistSteps().pairs)));
  return printed;
}

#if defined(KERNELSEARCH_BENCH_EXTERNAL)
/// A program whose calls take as long as they are told to by the wall's clock.
Printed by_external(Subject& subject) {
  const std::filesystem::path folder = subject.place().scratch / ("external_" + subject.kernel().name);
  std::filesystem::create_directories(folder);
  const double microseconds =
      0.0017 * static_cast<double>(subject.kernel().elements) * subject.kernel().steps;
  ExternalEvaluator evaluator(test::scripted_problem(folder, "honest", microseconds));
  const Candidate champion = evaluator.problem().default_candidate();
  Kernel twin = *champion.kernel;
  twin.regions.device += "\n";
  Printed printed;
  add(printed, "external",
      equal::ratio_of(evaluator.compare({std::make_shared<const Kernel>(std::move(twin)), champion.config},
                                        champion, FinalistSteps().pairs)));
  return printed;
}
#endif

/// A built kernel in this process, with arrays of its own, for tools that time in process.
class Loaded {
 public:
  Loaded(HostEvaluator& evaluator, const Candidate& candidate) {
    const Problem& problem = evaluator.problem();
    const Shape& shape = problem.shapes.back();
    const auto staged = evaluator.build(candidate, {});
    if (!staged.artifact)
      kernelsearch::detail::raise<ConfigError>("a kernel of the bench does not build",
                                               staged.evaluation.reason, "look at its text");
    void* const handle = dlopen(staged.artifact->library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const symbol = handle != nullptr ? dlsym(handle, "kernelsearch_entry") : nullptr;
    if (symbol == nullptr)
      kernelsearch::detail::raise<ConfigError>("a kernel cannot be loaded", staged.artifact->library.string(),
                                               dlerror());
    entry_ = reinterpret_cast<void (*)(void* const*)>(symbol);
    Rng rng(1);
    for (const Argument& argument : problem.arguments) {
      const std::size_t bytes =
          argument.is_array ? element_count(argument, shape) * argument.element_bytes() : 8;
      // aligned as the judge's arrays are
      storage_.emplace_back(bytes + 64);
      std::byte* at = storage_.back().data();
      at += (64 - reinterpret_cast<std::uintptr_t>(at) % 64) % 64;
      if (!argument.is_array) {
        const std::int64_t value = std::get<std::int64_t>(scalar_value(argument, shape));  // all are i32
        std::memcpy(at, &value, sizeof value);
      } else if (argument.role != Role::out) {
        fill_input(at_shape(argument, shape), element_count(argument, shape), rng, at);
      }
      pointers_.push_back(at);
    }
  }
  void operator()() const { entry_(pointers_.data()); }

 private:
  void (*entry_)(void* const*) = nullptr;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<void*> pointers_;
};

/// What other tools say of the same two, in this process on the measured core, as their manuals advise.
Printed by_tools(Subject& subject) {
  const Loaded one(subject.host(), subject.next_twin()), other(subject.host(), subject.champion());
  cpu_set_t before, core;
  sched_getaffinity(0, sizeof before, &before);
  CPU_ZERO(&core);
  CPU_SET(static_cast<std::size_t>(subject.place().core), &core);
  sched_setaffinity(0, sizeof core, &core);
  Printed printed;
  for (const Tool& tool : comparing_tools()) {
    const Said said = tool.compare(one, other, FinalistSteps().pairs.budget_seconds);
    // They say whether two differ, and give no interval of a ratio.
    const Interval all{0, std::numeric_limits<double>::infinity()};
    if (said.answered)
      add(printed, tool.name, Ratio{said.ratio, said.differs ? Interval{said.ratio, said.ratio} : all});
  }
  sched_setaffinity(0, sizeof before, &before);
  return printed;
}

struct Way {
  std::string name;
  std::function<bool(const equal::Kernel&)> fits;
  std::function<Printed(Subject&)> print;
};

std::vector<Way> ways(const std::string& command) {
  const auto on_host = [](const equal::Kernel& kernel) { return !kernel.device; };
  std::vector<Way> all{{"reference", on_host, by_reference},
                       {"compare", on_host, by_compare},
                       {"parent", on_host, by_parent},
                       {"tuned", on_host, by_tuning},
                       {"run", on_host, by_own_run}};
  if (!command.empty()) all.push_back({"remote", on_host, by_remote_run});
#if defined(KERNELSEARCH_BENCH_EXTERNAL)
  if (test::has_system_python())
    all.push_back({"external",
                   [](const equal::Kernel& kernel) {
                     const auto work = static_cast<double>(kernel.elements) * kernel.steps;
                     return !kernel.device && work > 5e4 && work < 5e6;
                   },
                   by_external});
#endif
  all.push_back(
      {"tools",
       [](const equal::Kernel& kernel) { return !kernel.device && kernel.threads == 1 && !kernel.in_place; },
       by_tools});
  all.push_back({"device", [](const equal::Kernel& kernel) { return kernel.device; }, by_device});
  return all;
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream text(list);
  for (std::string word; std::getline(text, word, ',');) words.push_back(word);
  return words;
}

bool among(const std::vector<std::string>& words, const std::string& name) {
  return words.empty() || std::find(words.begin(), words.end(), name) != words.end();
}

/// The kernels whose names have one of the words, or so many of them where it is a number.
std::vector<equal::Kernel> chosen_kernels(const std::string& problems, bool device, bool different) {
  std::vector<equal::Kernel> all = device ? equal::device_kernels() : equal::host_kernels();
  // A hundredth of fewer steps is none, and a sweep has no steps to be more.
  if (different) std::erase_if(all, [](const equal::Kernel& kernel) { return kernel.steps < 100; });
  const std::vector<std::string> words = words_of(problems);
  char* end = nullptr;
  const auto most = std::strtoul(problems.c_str(), &end, 10);
  if (!problems.empty() && *end == '\0') {
    all.resize(std::min<std::size_t>(most, all.size()));
  } else if (!words.empty()) {
    std::erase_if(all, [&](const equal::Kernel& kernel) {
      return std::none_of(words.begin(), words.end(), [&](const std::string& word) {
        return kernel.name.find(word) != std::string::npos;
      });
    });
  }
  if (all.empty())
    kernelsearch::detail::raise<ConfigError>("no problem of the table is meant", problems,
                                             "give a number, or parts of names with commas between them");
  return all;
}

/// Everything that was printed, by way.
class Ledger {
 public:
  explicit Ledger(const std::string& csv) {
    if (csv.empty()) return;
    file_.open(csv);
    file_ << "way,problem,repeat,ratio,low,high\n";
  }
  void note(const std::string& problem, int repeat, const Printed& printed) {
    const std::lock_guard lock(mutex_);
    for (const auto& [way, ratio] : printed) {
      ways_[way].emplace_back(problem, ratio);
      if (file_.is_open())
        file_ << way << ',' << problem << ',' << repeat << ',' << ratio.ratio << ',' << ratio.interval.low
              << ',' << ratio.interval.high << std::endl;
    }
  }
  void failed(const std::string& way, const std::string& problem, const std::string& why) {
    const std::lock_guard lock(mutex_);
    ++failures_;
    fmt::print(stderr, "{}, {}: {}\n", way, problem, why);
  }

  /// The table; whether all is as it should be, but for other tools.
  bool print(bool different, double off) const {
    fmt::print(
        "| way | intervals | {} | share | median | 5 to 95 % | furthest from 1 "
        "|\n|---|---|---|---|---|---|---|\n",
        different ? "3 % found" : "miss 1");
    bool good = failures_ == 0 && !ways_.empty();
    for (const auto& [way, all] : ways_) {
      std::vector<double> ratios;
      int count = 0;
      const std::pair<std::string, Ratio>* worst = &all.front();
      for (const auto& one : all) {
        ratios.push_back(one.second.ratio);
        count += different ? one.second.interval.low > 1 : one.second.misses_one();
        if (std::abs(std::log(one.second.ratio)) > std::abs(std::log(worst->second.ratio))) worst = &one;
      }
      std::sort(ratios.begin(), ratios.end());
      const auto at = [&](double q) {
        return ratios[static_cast<std::size_t>(q * static_cast<double>(ratios.size() - 1))];
      };
      const double share = count / static_cast<double>(all.size());
      const bool ours =
          std::none_of(tools_.begin(), tools_.end(), [&](const Tool& tool) { return tool.name == way; });
      const bool bad = different ? share < 0.9 : share > 0.05 || std::abs(median(ratios) - 1) > off;
      fmt::print(
          "| {}{} | {} | {} | {:.1f} % | {:.4f} | {:.4f} to {:.4f} | {:.3f} ({:.3f} to {:.3f}), {} |\n", way,
          bad && ours ? " (!)" : "", all.size(), count, 100 * share, median(ratios), at(0.05), at(0.95),
          worst->second.ratio, worst->second.interval.low, worst->second.interval.high, worst->first);
      good = good && !(bad && ours);
    }
    fmt::print("\n{} comparisons came to no answer\n", failures_);
    return good;
  }

  /// The same by problem, of those that are far off.
  void print_problems(double off) const {
    std::map<std::pair<std::string, std::string>, std::vector<Ratio>> by_problem;
    for (const auto& [way, all] : ways_)
      for (const auto& [problem, ratio] : all) by_problem[{problem, way}].push_back(ratio);
    fmt::print("\n| problem | way | intervals | miss 1 | median |\n|---|---|---|---|---|\n");
    for (const auto& [key, all] : by_problem) {
      const auto misses =
          std::count_if(all.begin(), all.end(), [](const Ratio& one) { return one.misses_one(); });
      if (std::abs(equal::middle_of(all) - 1) > off || 10 * static_cast<std::size_t>(misses) > all.size())
        fmt::print("| {} | {} | {} | {} | {:.4f} |\n", key.first, key.second, all.size(), misses,
                   equal::middle_of(all));
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::pair<std::string, Ratio>>> ways_;
  std::vector<Tool> tools_ = comparing_tools();
  int failures_ = 0;
  std::ofstream file_;
};

/// The program of lanes: what was named, else that of this build.
std::string lane_program(const std::string& named) {
  if (!named.empty()) return named;
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto& place : {own / "kernelsearch", own / "../../apps/kernelsearch/kernelsearch",
                            own / "../../../apps/kernelsearch/kernelsearch"})
    if (std::filesystem::exists(place, error)) return std::filesystem::canonical(place).string();
  return {};
}

}  // namespace

int compare_kernels(const Arguments& arguments, bool different) {
  const int repeat = arguments.number("repeat", 20), load = arguments.number("load", 0);
  const bool device = arguments.text("device", "host") != "host";
  const std::string command = lane_program(arguments.text("command", ""));
  const std::vector<equal::Kernel> kernels =
      chosen_kernels(arguments.text("problems", ""), device, different);
  const std::vector<std::string> wanted = words_of(arguments.text("ways", ""));
  const std::vector<Way> all = ways(command);
  for (const std::string& name : wanted)
    if (std::none_of(all.begin(), all.end(), [&](const Way& way) { return way.name == name; })) {
      std::string known;
      for (const Way& way : all) known += " " + way.name;
      kernelsearch::detail::raise<ConfigError>("there is no such way here", name, "choose from" + known);
    }
  const Sandbox sandbox = sandbox_from(arguments.text("sandbox", "auto"));
  const Scratch scratch;
  print_machine(load, sandbox);
  if (command.empty()) fmt::print("left out: remote lanes: --command names no program kernelsearch\n");
  for (const auto& why : tools_left_out()) fmt::print("left out: {}\n", why);
  const std::vector<int>& cores = host_machine().cores;
  const auto jobs =
      std::clamp<std::size_t>(static_cast<std::size_t>(arguments.number("jobs", 1)), 1, cores.size());
  Ledger ledger(arguments.text("csv", ""));
  std::atomic<std::size_t> next{0};
  const auto work = [&](std::size_t job) {
    // A core of its own for each, the last first, and its neighbours free for who measures from outside.
    const Place place{cores[cores.size() - 1 - job * (cores.size() / jobs)],
                      scratch.path() / fmt::format("job_{}", job), command, sandbox};
    std::filesystem::create_directories(place.scratch);
    const BusyLoops loops(load, place.core);
    for (std::size_t k = next++; k < kernels.size(); k = next++) {
      std::optional<Subject> subject;
      for (const Way& way : all) {
        if (!among(wanted, way.name) || !way.fits(kernels[k])) continue;
        for (int i = 0; i < repeat; ++i) try {
            if (!subject) subject.emplace(kernels[k], different ? extra_percent : 0, place);
            ledger.note(kernels[k].name, i, way.print(*subject));
          } catch (const std::exception& error) {
            ledger.failed(way.name, kernels[k].name, error.what());
          }
      }
      fmt::print(stderr, "{}: done\n", kernels[k].name);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t job = 0; job < jobs; ++job) threads.emplace_back(work, job);
  }
  const double off = load == 0 ? 0.01 : 0.02;
  const bool good = ledger.print(different, off);
  if (!different) ledger.print_problems(off);
  fmt::print("\n{}\n", good ? "as it should be" : "NOT as it should be");
  return good ? 0 : 1;
}

}  // namespace judge_bench
