// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/run/budget.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/store/result_cache.hpp"

namespace kernelsearch::detail {

using RunClock = std::chrono::steady_clock;
using RunKey = std::function<std::string(const Candidate&)>;
using RunJudge = Cached<AnyEvaluator, RunKey, ResultCache>;

/// Keeps this thread and what it starts off the measured core while a call lasts.
class CoreLeft {
 public:
  explicit CoreLeft(int core) : known_(core >= 0 && sched_getaffinity(0, sizeof before_, &before_) == 0) {
    if (known_) leave_core_to_measuring(core);
  }
  ~CoreLeft() {
    if (known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CoreLeft(const CoreLeft&) = delete;
  CoreLeft& operator=(const CoreLeft&) = delete;

 private:
  cpu_set_t before_{};
  bool known_;
};

/// Tells whoever called how far a step is.
class Teller {
 public:
  Teller(const ToolCall& call, const StepLimit& limit) : call_(call), limit_(limit) {}

  template <class C, class P>
  void on_trial(const Trial<C>& trial, const P&) {
    ++told_;
    const Outcome& outcome = trial.outcome;
    if (outcome.ok()) best_ = std::min(best_, outcome.objective);
    std::string text = fmt::format("trial {}: {}", number(outcome.id), to_string(outcome.evaluation.verdict));
    if (outcome.ok()) text += " " + format_seconds(outcome.objective);
    if (best_ < std::numeric_limits<double>::infinity())
      text += ", best of this step " + format_seconds(best_);
    say(text);
  }
  void say(const std::string& text) {
    const double gone = std::chrono::duration<double>(RunClock::now() - begun_).count();
    if (limit_.trials)
      call_.progress(static_cast<double>(told_), static_cast<double>(*limit_.trials), text);
    else if (limit_.seconds)
      call_.progress(gone, std::max(gone, *limit_.seconds), text);
    else
      call_.progress(static_cast<double>(told_), std::nullopt, text);
  }

 private:
  const ToolCall& call_;
  StepLimit limit_;
  std::uint64_t told_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  RunClock::time_point begun_ = RunClock::now();
};

/// What a session drives: a search over configurations, or kernels that are handed in.
struct RunSearch {
  RunSearch(RunStore& s, RunId r, const Problem& p, const RunPlan& how)
      : store(s), run(r), problem(p), plan(how), budget(parse_budget(how.budget)) {}
  virtual ~RunSearch() = default;
  virtual StepReport step(const StepLimit& limit, const ToolCall& call) = 0;
  virtual std::optional<TrialId> submit(const Submission& submission, const ToolCall& call) = 0;
  virtual std::optional<Move> suggestion() { return std::nullopt; }
  virtual void decline(const std::string&, const ToolCall&) {
    raise<ConfigError>("this run suggests no moves", plan.policy, "only runs with the policy submit do");
  }

  [[nodiscard]] OptimizerOptions options(std::size_t lanes) const {
    OptimizerOptions o;
    o.in_flight = plan.jobs + 2 * lanes;
    o.build_threads = plan.jobs;
    o.stop = stop.get_token();
    o.budget = trials;
    return o;
  }
  /// Whether the run has had all of the time that it was given.
  [[nodiscard]] bool out_of_time() const {
    return budget.seconds && store.run(run).seconds >= *budget.seconds;
  }
  [[nodiscard]] RunKey key(const std::shared_ptr<ResultCache>& results, bool paired) const {
    // A time without its pair would leave a submitted kernel without a speedup.
    return [results, paired](const Candidate& candidate) {
      return paired ? results->key("paired " + candidate_digest(candidate)) : results->key(candidate);
    };
  }
  [[nodiscard]] std::shared_ptr<ResultCache> results(const AnyEvaluator& evaluator) const {
    const RunRow row = store.run(run);
    return std::make_shared<ResultCache>(
        store, ResultScope{row.info.problem_digest, evaluator.device_id(), evaluator.toolchain_id()});
  }
  [[noreturn]] static void raise_spent() {
    raise<ConfigError>("the run's budget of trials is spent", "0 left",
                       "start a new run; what was measured is reused by itself");
  }

  RunStore& store;
  RunId run;
  Problem problem;
  RunPlan plan;
  BudgetOption budget;
  std::stop_source stop;
  std::shared_ptr<TrialBudget> trials;
  bool spent = false;
};

[[nodiscard]] std::unique_ptr<RunSearch> search_configs(RunStore& store, RunId run, AnyEvaluator evaluator,
                                                        const RunPlan& plan);
[[nodiscard]] std::unique_ptr<RunSearch> search_submits(RunStore& store, RunId run, AnyEvaluator evaluator,
                                                        const RunPlan& plan);

}  // namespace kernelsearch::detail
