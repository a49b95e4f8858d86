// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_manager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "begun_run.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/evaluator/host/machine.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
using detail::Began;
using detail::check_policy;
using detail::plan_of;
using nlohmann::json;

struct RunManager::Impl {
  struct Entry {
    std::unique_ptr<RunSession> session;
    std::string doing;  ///< empty: idle
    std::stop_source stop;
    std::uint64_t used = 0;
    std::optional<Move> suggested;  ///< when the last call on it ended
  };

  Impl(RunStore& s, RunManagerOptions o) : store(s), options(std::move(o)), root(options.root) {
    if (!options.evaluator)
      options.evaluator = [](Problem problem, const MeasurementOptions& how, bool pairing) {
        return pairing ? make_pairing_evaluator(std::move(problem), how)
                       : make_evaluator(std::move(problem), how);
      };
  }

  [[nodiscard]] Problem problem_of(const RunRow& row) const {
    const Began began(row);
    if (const std::string text = began.text("problem_text"); !text.empty())
      return parse_problem(text, root.path());
    const std::string path = began.text("problem");
    if (path.empty() || !root.holds(path))
      detail::raise<ConfigError>(fmt::format("the problem of run {} is not below the root", number(row.id)),
                                 path.empty() ? "no path" : path, "start the server with another --root");
    return read_problem(path);
  }

  /// How the problem is measured, and the compilers that may run meanwhile.
  [[nodiscard]] MeasurementOptions measuring(const Problem& problem, const std::string& cache) const {
    MeasurementOptions how = options.measuring;
    how.cache = cache.empty() ? cache_mode(how, problem.backend) : cache;
    const std::vector<int> cores = host_machine().cores;
    if (how.core < 0) how.core = cores.back();
    const bool host = problem.backend == Backend::host;
    if (how.jobs == 0)
      how.jobs = static_cast<unsigned>(std::max<std::size_t>(1, cores.size() - (host ? 1 : 0)));
    return how;
  }

  static void set_machine(RunPlan& plan, const MeasurementOptions& how, const Problem& problem) {
    plan.core = problem.backend == Backend::host ? how.core : -1;
  }

  [[nodiscard]] static RunInfo info_of(const RunRequest& request, const AnyEvaluator& evaluator,
                                       const std::string& place, const MeasurementOptions& how) {
    const Problem& problem = evaluator.problem();
    RunInfo info;
    info.name = request.name.empty() ? problem.name : request.name;
    info.problem = problem.name;
    info.problem_digest = measurement_digest(problem, how.cache);
    info.policy = request.plan.policy;
    info.generator = request.plan.policy == "submit" ? "submit" : "template";
    info.evaluator = to_string(problem.backend);
    info.seed = request.plan.seed;
    info.device = evaluator.device_id();
    info.toolchain = evaluator.toolchain_id();
    json keep{{"problem", place},          {"budget", request.plan.budget},
              {"jobs", request.plan.jobs}, {"cache", how.cache},
              {"devices", how.devices},    {"learned_from", json::array()},
              {"where", json::array()},    {"configs", ""},
              {"sandbox", how.sandbox}};
    if (place.empty()) keep["problem_text"] = request.problem_text;
    if (request.plan.policy == "submit") {
      keep["suggest"] = request.plan.suggest;
      keep["strategies"] = request.plan.strategies;
    }
    info.options = json_text(keep);
    return info;
  }

  /// Waits until nothing else measures; false where the call was stopped meanwhile.
  class Turn {
   public:
    Turn(Impl& book, const ToolCall& call) : book_(book) {
      std::unique_lock lock(book.mutex);
      if (book.measuring_now) call.progress(0, {}, "waiting for another run that measures");
      mine_ = book.changed.wait(lock, call.stop(), [&book] { return !book.measuring_now; });
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
    Taken(Impl& book, RunId run, const char* doing) : book_(book), run_(run) {
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
      std::unique_ptr<RunSession> gone;
      if (entry_->session && entry_->session->spent()) gone = std::move(entry_->session);
      if (failed) gone = std::move(entry_->session);
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
    RunId run_;
    Entry* entry_ = nullptr;
  };

  /// Closes the idle session that was used longest ago where there are too many.
  void make_room() {
    std::vector<std::unique_ptr<RunSession>> gone;
    const std::lock_guard lock(mutex);
    while (true) {
      std::size_t live = 0;
      Entry* oldest = nullptr;
      for (auto& [id, entry] : entries) {
        if (!entry.session) continue;
        ++live;
        if (entry.doing.empty() && (oldest == nullptr || entry.used < oldest->used)) oldest = &entry;
      }
      if (live < options.live || oldest == nullptr) return;
      gone.push_back(std::move(oldest->session));
    }
  }

  void open(RunId run, Entry& entry) {
    if (entry.session) return;
    make_room();
    const RunRow row = store.run(run);
    RunPlan plan = plan_of(row);
    Problem problem = problem_of(row);
    const MeasurementOptions how = measuring(problem, Began(row).text("cache"));
    set_machine(plan, how, problem);
    AnyEvaluator evaluator = options.evaluator(std::move(problem), how, plan.policy == "submit");
    RunInfo now = row.info;
    now.problem_digest = measurement_digest(evaluator.problem(), how.cache);
    now.device = evaluator.device_id();
    now.toolchain = evaluator.toolchain_id();
    check_same_context(row, now);
    entry.session = std::make_unique<RunSession>(store, run, std::move(evaluator), plan);
  }

  /// Runs `work(session, call)` on a run that nothing else works on, when nothing else measures; what it
  /// gave, or `stopped` where the call was stopped before.
  template <class Work>
  auto with(RunId run, const char* doing, const ToolCall& call, Work work)
      -> std::optional<std::invoke_result_t<Work, RunSession&, const ToolCall&>> {
    (void)store.run(run);  // a StoreError where there is none
    Taken taken(*this, run, doing);
    const std::stop_callback forward(call.stop(), [stop = taken->stop]() mutable { stop.request_stop(); });
    const ToolCall inner(taken->stop.get_token(),
                         [&call](double done, std::optional<double> total, std::string_view text) {
                           call.progress(done, total, text);
                         });
    const Turn turn(*this, inner);
    if (!turn) return std::nullopt;
    try {
      open(run, *taken);
      auto result = work(*taken->session, inner);
      std::optional<Move> next;
      if (!taken->session->spent()) next = taken->session->suggestion();
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

std::optional<RunId> RunManager::start(const RunRequest& request, const ToolCall& call) {
  Impl& book = *impl_;
  check_policy(request.plan);
  if (request.problem.empty() == request.problem_text.empty())
    detail::raise<ConfigError>("a run needs one problem", request.problem.empty() ? "none" : "two",
                               "give problem, a path below the root, or problem_json");
  std::string place;
  if (!request.problem.empty()) place = book.root.find(request.problem).string();
  Problem problem =
      place.empty() ? parse_problem(request.problem_text, book.root.path()) : read_problem(place);
  const MeasurementOptions how = book.measuring(problem, "");
  RunRequest whole = request;
  whole.plan.jobs = how.jobs;
  Impl::set_machine(whole.plan, how, problem);
  const bool submits = whole.plan.policy == "submit";
  RunId run{};
  {
    const Impl::Turn turn(book, call);
    if (!turn) return std::nullopt;
    book.make_room();
    AnyEvaluator evaluator = book.options.evaluator(std::move(problem), how, submits);
    run = book.store.begin_run(Impl::info_of(whole, evaluator, place, how));
    Impl::Taken taken(book, run, "start_run");
    taken->session = std::make_unique<RunSession>(book.store, run, std::move(evaluator), whole.plan);
    book.store.end_run(run, "begun", 0.0);
  }
  if (submits) (void)step(run, {}, call);
  return run;
}

StepReport RunManager::step(RunId run, const StepLimit& limit, const ToolCall& call) {
  auto report = impl_->with(run, "step", call, [&limit](RunSession& session, const ToolCall& inner) {
    return session.step(limit, inner);
  });
  if (report) return *std::move(report);
  return {0, false, true, "stopped"};
}

std::optional<TrialId> RunManager::submit(RunId run, const Submission& submission, const ToolCall& call) {
  const auto trial =
      impl_->with(run, "submit_kernel", call, [&submission](RunSession& session, const ToolCall& inner) {
        return session.submit(submission, inner);
      });
  return trial ? *trial : std::nullopt;
}

void RunManager::decline(RunId run, const std::string& reason, const ToolCall& call) {
  (void)impl_->with(run, "step", call, [&reason](RunSession& session, const ToolCall& inner) {
    session.decline(reason, inner);
    return 0;
  });
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
  const std::unique_ptr<RunSession> gone = std::move(found->second.session);
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
