// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "evaluator/host/peaks.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "stored_options.hpp"

namespace kernelsearch {
namespace {

/// A run that was begun elsewhere may need files that lie outside of the root, or another generator.
void check_continuable(const RunRow& row) {
  if (row.info.generator != "template" && row.info.generator != "submit")
    detail::raise<ConfigError>(fmt::format("run {} was made by another generator", number(row.id)),
                               row.info.generator,
                               "it goes on with the command that began it; here start a run of your own");
  const RunOptions options = detail::decode_options(row).options;
  const auto refuse = [&row](const char* what, const std::string& given) {
    detail::raise<ConfigError>(
        fmt::format("run {} was begun with {}", number(row.id), what), given,
        fmt::format("it goes on with `kernelsearch tune --resume {}`; here start a run of your own",
                    number(row.id)));
  };
  if (!options.learn_from.empty()) refuse("learned_from", options.learn_from.front());
  if (!options.where.empty()) refuse("where", options.where.front());
  if (!options.configs.empty()) refuse("configs", options.configs);
  if (!options.policy_command.empty()) refuse("policy_command", options.policy_command);
  if (!options.policy_plugin.empty()) refuse("policy_plugin", options.policy_plugin.string());
  if (!options.measurement.readable.empty()) refuse("readable", options.measurement.readable.front());
}

/// The folders besides its own that the problem's commands may read.
std::vector<std::string> readable_of(const Problem& problem) {
  std::vector<std::string> folders = problem.build.readable;
  if (problem.external)
    folders.insert(folders.end(), problem.external->readable.begin(), problem.external->readable.end());
  return folders;
}

/// ConfigError for a policy or an option of one, a budget or a suggesting policy that there is not.
void check_policy(const RunOptions& options, Backend backend) {
  if (!options.budget.empty()) (void)parse_budget(options.budget);
  if (options.policy == "submit") {
    (void)make_move_policy(options.suggest, options.strategies, options.seed, backend);
    return;
  }
  const std::string name(policy_name(options.policy));
  if (!try_find_config_policy(name)) {
    std::vector<std::string> names{"submit"};
    for (const ConfigPolicyEntry& entry : config_policies()) names.emplace_back(entry.name);
    const std::string nearest = nearest_name(name, names);
    detail::raise<ConfigError>("no such policy", options.policy,
                               nearest.empty() ? "list_methods names them" : "did you mean " + nearest + "?");
  }
  (void)choose_policy(options.policy);
}

}  // namespace

struct RunManager::Impl {
  struct Entry {
    std::unique_ptr<Run> opened;
    std::string doing;  ///< empty: idle
    std::stop_source stop;
    std::uint64_t used = 0;
    std::optional<Move> suggested;  ///< when the last call on it ended
  };

  Impl(RunStore& s, RunManagerOptions o) : store(s), options(std::move(o)), root(options.root) {}

  /// A problem that a client handed in as a text; its files are below the root, and that is all it may read.
  [[nodiscard]] Problem handed_in(const std::string& text) const {
    Problem problem = parse_problem(text, root.path());
    for (const std::string& folder : readable_of(problem))
      detail::raise<ConfigError>("a problem_json opens no folders to its commands", folder,
                                 "remove `readable`; the server's --readable names what they may read");
    return problem;
  }

  /// The problem of a request, and its place where it has one.
  [[nodiscard]] std::pair<Problem, std::string> problem_asked(const RunRequest& request) const {
    if (request.problem.empty() == request.problem_text.empty())
      detail::raise<ConfigError>("a run needs one problem", request.problem.empty() ? "none" : "two",
                                 "give problem, a path below the root, or problem_json");
    if (request.problem.empty()) return {handed_in(request.problem_text), {}};
    const std::filesystem::path place = root.find_problem(request.problem);
    return {below_root(place), place.string()};
  }

  /// A problem of a folder below the root.
  [[nodiscard]] Problem below_root(const std::filesystem::path& place) const {
    Problem problem = read_problem(root.find_problem(place.string()));
    for (const std::string& folder : readable_of(problem))
      if (!root.holds(folder) &&
          std::none_of(options.measuring.readable.begin(), options.measuring.readable.end(),
                       [&folder](const std::string& open) { return RootFolder(open).holds(folder); }))
        detail::raise<ConfigError>(
            problem.name + " wants to read a folder outside of the root", folder,
            "have the server begun with --readable " + folder + ", if its kernels may see what is there");
    return problem;
  }

  [[nodiscard]] Problem problem_of(const RunRow& row) const {
    const detail::StoredOptions stored = detail::decode_options(row);
    if (!stored.problem_text.empty()) return handed_in(stored.problem_text);
    if (stored.problem.empty() || !root.holds(stored.problem))
      detail::raise<ConfigError>(
          fmt::format("the problem of run {} is not below the root", number(row.id)),
          stored.problem.empty() ? "no path" : stored.problem,
          "start a run of a problem below the root, or have the server begun with another --root");
    Problem problem = below_root(stored.problem);
    if (stored.baseline.empty()) return problem;
    if (!root.holds(stored.baseline))
      detail::raise<ConfigError>(fmt::format("the baseline of run {} is not below the root", number(row.id)),
                                 stored.baseline, "have the server begun with another --root");
    add_baseline(problem, stored.baseline);
    return problem;
  }

  /// What a run of this problem is given besides its options.
  [[nodiscard]] RunParts parts_for(const Problem& problem, MeasurementOptions how, bool submits) const {
    RunParts parts;
    parts.store = &store;
    if (!options.evaluator) return parts;
    how.cache = cache_mode(how, problem.backend);
    parts.evaluator = options.evaluator(problem, how, submits);
    return parts;
  }

  /// Waits until nothing else measures; false where the call was stopped meanwhile.
  class Turn {
   public:
    Turn(Impl& book, const RunCall& call) : book_(book) {
      std::unique_lock lock(book.mutex);
      if (book.measuring_now && call.observer != nullptr)
        call.observer->on_message("waiting for another run that measures");
      mine_ = book.changed.wait(lock, call.stop, [&book] { return !book.measuring_now; });
      if (mine_) book.measuring_now = true;
    }
    ~Turn() {
      if (!mine_) return;
      const std::lock_guard lock(book_.mutex);
      book_.measuring_now = false;
      book_.changed.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const noexcept { return mine_; }

   private:
    Impl& book_;
    bool mine_ = false;
  };

  /// A run that is taken for one call.
  class Taken {
   public:
    Taken(Impl& book, RunId run, const char* doing) : book_(book) {
      const std::lock_guard lock(book.mutex);
      if (book.closing) detail::raise<ConfigError>("the server is ending", doing, "start it again");
      Entry& entry = book.entries[number(run)];
      if (!entry.doing.empty())
        detail::raise<ConfigError>(fmt::format("run {} is at work", number(run)), entry.doing,
                                   "wait for that call, or stop it with cancel");
      entry.doing = doing;
      entry.stop = std::stop_source();
      entry.used = ++book.uses;
      entry_ = &entry;  // a std::map moves no entries
    }
    ~Taken() {
      // Evaluators end processes; not under the mutex.
      std::unique_ptr<Run> gone;
      if (entry_->opened && entry_->opened->spent()) gone = std::move(entry_->opened);
      if (failed) gone = std::move(entry_->opened);
      gone.reset();
      const std::lock_guard lock(book_.mutex);
      entry_->doing.clear();
      book_.changed.notify_all();
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

    Entry& operator*() const { return *entry_; }
    [[nodiscard]] Entry* operator->() const { return entry_; }

    bool failed = false;

   private:
    Impl& book_;
    Entry* entry_ = nullptr;
  };

  /// Closes the idle run that was used longest ago where there are too many.
  void make_room() {
    std::vector<std::unique_ptr<Run>> gone;
    const std::lock_guard lock(mutex);
    while (true) {
      std::size_t live = 0;
      Entry* oldest = nullptr;
      for (auto& [id, entry] : entries) {
        if (!entry.opened) continue;
        ++live;
        if (entry.doing.empty() && (oldest == nullptr || entry.used < oldest->used)) oldest = &entry;
      }
      if (live < options.live || oldest == nullptr) return;
      gone.push_back(std::move(oldest->opened));
    }
  }

  void open(RunId run, Entry& entry) {
    if (entry.opened) return;
    make_room();
    const RunRow row = store.run(run);
    check_continuable(row);
    Problem problem = problem_of(row);
    RunOptions given;
    given.measurement = options.measuring;
    const detail::StoredOptions stored = detail::decode_options(row);
    MeasurementOptions how = options.measuring;
    how.cache = stored.options.measurement.cache;
    RunParts parts = parts_for(problem, how, stored.options.policy == "submit");
    parts.problem = std::move(problem);
    entry.opened =
        std::make_unique<Run>(Run::resume(std::to_string(number(run)), std::move(given), std::move(parts)));
  }

  /// Runs `work(opened, call)` on a run that nothing else works on, when nothing else measures; what it
  /// gave, or `stopped` where the call was stopped before.
  template <class Work>
  auto with(RunId run, const char* doing, const RunCall& call, Work work)
      -> std::optional<std::invoke_result_t<Work, Run&, RunObserver&>> {
    (void)store.run(run);  // a StoreError where there is none
    Taken taken(*this, run, doing);
    const std::stop_callback forward(call.stop, [stop = taken->stop]() mutable { stop.request_stop(); });
    RunObserver nobody;
    const RunCall inner{taken->stop.get_token(), call.observer};
    const Turn turn(*this, inner);
    if (!turn) return std::nullopt;
    try {
      open(run, *taken);
      const std::stop_callback end(inner.stop, [opened = taken->opened.get()] { opened->request_stop(); });
      auto result = work(*taken->opened, call.observer != nullptr ? *call.observer : nobody);
      std::optional<Move> next;
      if (!taken->opened->spent()) next = taken->opened->suggestion();
      const std::lock_guard lock(mutex);
      taken->suggested = std::move(next);
      return result;
    } catch (const DeviceError&) {
      taken.failed = true;  // nobody knows what state the evaluator is in
      throw;
    } catch (const StoreError&) {
      taken.failed = true;
      throw;
    }
  }

  RunStore& store;
  RunManagerOptions options;
  RootFolder root;
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::map<std::int64_t, Entry> entries;
  std::uint64_t uses = 0;
  bool measuring_now = false;
  bool closing = false;
};

RunManager::RunManager(RunStore& store, RunManagerOptions options)
    : impl_(std::make_unique<Impl>(store, std::move(options))) {}

RunManager::~RunManager() {
  std::unique_lock lock(impl_->mutex);
  impl_->closing = true;
  std::vector<std::stop_source> stops;
  for (auto& [id, entry] : impl_->entries)
    if (!entry.doing.empty()) stops.push_back(entry.stop);
  lock.unlock();
  for (std::stop_source& stop : stops) stop.request_stop();
  lock.lock();
  impl_->changed.wait(lock, [this] {
    return std::all_of(impl_->entries.begin(), impl_->entries.end(),
                       [](const auto& entry) { return entry.second.doing.empty(); });
  });
}

std::optional<RunId> RunManager::start(const RunRequest& request, const RunCall& call) {
  Impl& manager = *impl_;
  const auto [problem, place] = manager.problem_asked(request);
  check_policy(request.options, problem.backend);
  RunOptions options = request.options;
  options.name = request.name;
  options.measurement = manager.options.measuring;
  options.learn = false;
  const bool submits = options.policy == "submit";
  RunId run{};
  {
    const Impl::Turn turn(manager, call);
    if (!turn) return std::nullopt;
    manager.make_room();
    RunParts parts = manager.parts_for(problem, options.measurement, submits);
    parts.problem_path = place;
    if (place.empty()) parts.problem_text = request.problem_text;
    auto opened = std::make_unique<Run>(Run::start(problem, std::move(options), std::move(parts)));
    run = opened->id();
    Impl::Taken taken(manager, run, "start_run");
    taken->opened = std::move(opened);
    manager.store.end_run(run, "begun", 0.0);
  }
  if (submits) (void)step(run, {}, call);
  return run;
}

Objectives RunManager::objectives_of(const RunRequest& request) const {
  const std::string& given = request.options.objectives;
  return given.empty() ? impl_->problem_asked(request).first.objectives : Objectives::parse(given);
}

StepReport RunManager::step(RunId run, const StepLimit& limit, const RunCall& call) {
  auto report = impl_->with(run, "step", call, [&limit](Run& opened, RunObserver& observer) {
    return opened.step(limit, observer);
  });
  if (report) return *std::move(report);
  return {0, false, true, "stopped"};
}

std::optional<TrialId> RunManager::submit(RunId run, const Submission& submission, const RunCall& call) {
  const auto trial = impl_->with(
      run, "submit_kernel", call,
      [&submission](Run& opened, RunObserver& observer) { return opened.submit(submission, observer); });
  return trial ? *trial : std::nullopt;
}

void RunManager::decline(RunId run, const std::string& reason, const RunCall& call) {
  (void)impl_->with(run, "step", call, [&reason](Run& opened, RunObserver& observer) {
    opened.decline(reason, observer);
    return 0;
  });
}

TuneReport RunManager::tune(RunId run, const TuneRequest& request, const RunCall& call) {
  auto report = impl_->with(run, "tune", call, [&request](Run& opened, RunObserver& observer) {
    return opened.tune(request, observer);
  });
  if (report) return *std::move(report);
  return {.of = request.trial.value_or(TrialId{}), .stopped = true, .reason = "stopped"};
}

std::optional<Speedup> RunManager::compare(RunId run, TrialId trial, TrialId against, const RunCall& call) {
  const auto speedup = impl_->with(run, "compare", call, [=](Run& opened, RunObserver& observer) {
    return opened.compare(trial, against, observer);
  });
  return speedup ? *speedup : std::nullopt;
}

ProfileReport RunManager::profile(RunId run, TrialId trial, const RunCall& call) {
  auto report = impl_->with(run, "profile", call, [trial](Run& opened, RunObserver& observer) {
    return opened.profile(trial, observer);
  });
  if (report) return *std::move(report);
  return {.stopped = true};
}

ValidationReport RunManager::validate(RunId run, TrialId trial, const std::string& tools,
                                      const RunCall& call) {
  auto report = impl_->with(run, "validate", call, [&](Run& opened, RunObserver& observer) {
    return opened.validate(trial, tools, observer);
  });
  if (report) return *std::move(report);
  return {.stopped = true};
}

std::optional<Move> RunManager::suggestion(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->entries.find(number(run));
  return found == impl_->entries.end() ? std::nullopt : found->second.suggested;
}

bool RunManager::cancel(RunId run) {
  std::unique_lock lock(impl_->mutex);
  const auto found = impl_->entries.find(number(run));
  if (found == impl_->entries.end()) return false;
  const bool working = !found->second.doing.empty();
  std::stop_source stop = found->second.stop;
  if (working) {
    lock.unlock();
    stop.request_stop();
    lock.lock();
    impl_->changed.wait(lock, [&found] { return found->second.doing.empty(); });
  }
  const std::unique_ptr<Run> gone = std::move(found->second.opened);
  lock.unlock();
  return working;
}

std::string RunManager::doing(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->entries.find(number(run));
  return found == impl_->entries.end() ? std::string() : found->second.doing;
}

Problem RunManager::problem_of(RunId run) const {
  return impl_->problem_of(impl_->store.run(run));
}

std::string RunManager::machine_of(RunId run) const {
  const RunRow row = impl_->store.run(run);
  std::string text = detail::decode_options(row).machine;
  return text.empty() ? fmt::format("- device: {}\n- compiler: {}\n", row.info.device, row.info.toolchain)
                      : text;
}

ProblemFacts RunManager::facts_of(RunId run) const {
  const auto stored = detail::decode_options(impl_->store.run(run));
  ProblemFacts facts;
  facts.peaks = detail::read_peaks(stored.peaks).value_or(DevicePeaks{});
  facts.cold = stored.options.measurement.cache == "cold";
  return facts;
}

RunStore& RunManager::store() noexcept {
  return impl_->store;
}
const RunStore& RunManager::store() const noexcept {
  return impl_->store;
}
const RootFolder& RunManager::root() const noexcept {
  return impl_->root;
}

}  // namespace kernelsearch
