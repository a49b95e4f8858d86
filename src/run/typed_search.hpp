// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "changed_settings.hpp"
#include "countdown.hpp"
#include "earlier_tunings.hpp"
#include "idle_tunables.hpp"
#include "kernel_search.hpp"
#include "kernelsearch/evaluator/paired_with_parent.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/optimizer/tuned.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "trial_watch.hpp"

namespace kernelsearch::detail {

/// The events of the loop for those who watch the run. The run's end is told by the run itself, after the
/// finalists.
struct LoopEvents {
  RunObserver& to;
  void on_start(TrialId id, const Candidate& candidate) const { to.on_start(id, candidate); }
  template <class P>
  void on_trial(const Trial<Candidate>& trial, const P&) const {
    to.on_trial(trial);
  }
  void on_best(const Trial<Candidate>& trial) const { to.on_best(trial); }
  void on_revised(const Trial<Candidate>& trial) const { to.on_revised(trial); }
  void on_inner(TrialId parent, const InnerTrial& trial) const { to.on_inner(parent, trial); }
};

/// Lets the run learn from its trials for itself, and keeps the time of finalists free.
template <class P>
struct Watching {
  TrialWatch& watch;
  RunObserver& to;
  std::function<void()> learned;
  void on_trial(const Trial<Candidate>& trial, const P&) {
    watch.see(trial.outcome, [this](const std::string& text) { to.on_message(text); });
    learned();
  }
};

/// Ends a call: by the limits of the run, or because the step has had its trials or its time. What is in
/// flight is finished all the same.
struct CallLimit {
  RunLimits limits;
  std::shared_ptr<const PauseGate> gate;  ///< pauses count towards no limit
  std::uint64_t trials = std::numeric_limits<std::uint64_t>::max();
  RunClock::time_point deadline = RunClock::time_point::max();

  [[nodiscard]] bool paused(const RunProgress& progress) const {
    return progress.trials >= trials || RunClock::now() >= deadline;
  }
  [[nodiscard]] bool reached(const RunProgress& progress) const {
    RunProgress spent = progress;
    spent.seconds -= gate->seconds();
    return limits.reached(spent) || paused(progress);
  }
  [[nodiscard]] std::string describe() const { return limits.describe(); }
};

using RunTuned = Tuned<InnerPolicyMaker, RunJudge>;
/// The same where the run's budget counts kernels, as the papers do: what tuning one costs is bounded by
/// itself.
class KernelsTuned : public RunTuned {
 public:
  static constexpr bool draws_own_budget = false;
  KernelsTuned(RunTuned tuned, Problem problem) : RunTuned(std::move(tuned)), problem_(std::move(problem)) {}
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    EvaluationContext own = context;
    own.budget = nullptr;
    return RunTuned::evaluate(without_idle_tunables(problem_, candidate), own);
  }

 private:
  Problem problem_;
};
/// The same where each new kernel must pass a validator before anything goes on from it. The first is taken
/// as it is: all others are to compute what it computes (PEAK, section 3.4).
class CheckpointsTuned : public RunTuned {
 public:
  CheckpointsTuned(RunTuned tuned, CheckpointValidation how)
      : RunTuned(std::move(tuned)), how_(std::move(how)) {}
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    if (context.parents.empty()) return RunTuned::evaluate(candidate, context);
    std::vector<std::string> right;
    EvaluationContext own = context;
    own.on_inner = [&](const InnerTrial& inner) {
      if (inner.evaluation.verdict == Verdict::ok) right.push_back(inner.key);
      if (context.on_inner) context.on_inner(inner);
    };
    Evaluation evaluation = RunTuned::evaluate(candidate, own);
    return validated_checkpoint(how_, candidate, std::move(evaluation), std::move(right), context.trial,
                                context.stop);
  }

 private:
  CheckpointValidation how_;
};
using RunPaired = PairedWithParent<RunJudge>;

/// A search whose policy proposes `P` and whose candidates `Judge` judges.
template <class P, class Judge>
class TypedSearch final : public KernelSearch {
 public:
  using Search = Optimizer<AnyPolicy<P>, AnyGenerator<P>, Judge>;

  TypedSearch(SearchContext c, SearchParts<P> parts, Judge judge, OptimizerOptions loop, KernelLookup lookup)
      : KernelSearch(std::move(c)),
        lookup_(std::move(lookup)),
        window_(loop.in_flight),
        search_(std::move(parts.policy), std::move(parts.generator), std::move(judge), std::move(loop)) {
    search_.resume(load_record<P>(context.store, context.run, codec()));
    // Resuming draws for the policy's own trials alone.
    for (const Trial<Candidate>& trial : search_.trials()) {
      if (!trial.outcome.origin) context.trials->take();
      watch_.see(trial.outcome, nullptr);
    }
    if constexpr (std::derived_from<Judge, RunTuned>) remember_tunings();
  }

  void to_end(RunObserver& observer) override {
    const RunClock::time_point begun = RunClock::now();
    const double before = context.store.run(context.run).seconds;
    // What it took to prepare a new run is in its budget, but at most half of it: something must be tried.
    double prepared = std::chrono::duration<double>(begun - context.first_begun).count();
    if (context.budget.seconds) prepared = std::min(prepared, *context.budget.seconds / 2);
    const RunClock::time_point end = after(begun, -prepared - before);
    const RunClock::duration paused_before = context.gate->total();
    context.store.continue_run(context.run);
    Remembering<P> changes = remembering<P>(context.changes.get(), search_);
    RunRecorder<P> recorder(context.store, context.run, codec(), paused_since(paused_before));
    LoopEvents events{observer};
    std::string reason;
    {
      Countdown countdown(context.ending, search_end(end), context.gate);
      Watching<P> watching{watch_, observer, [&] { countdown.move(search_end(end)); }};
      reason =
          search_.run(CallLimit{context.limits, context.gate}, changes, recorder, events, watching).reason;
      if (countdown.over() && !context.stop.stop_requested())
        reason = WallTime{*context.budget.seconds}.describe();
    }
    if (!context.stop.stop_requested())
      measure_finalists(later(end, paused_before), observer, changes, recorder, events);
    if (const std::string remarks = context.remarks ? context.remarks() : ""; !remarks.empty())
      reason += "; " + remarks;
    context.store.end_run(context.run, reason,
                          before + std::chrono::duration<double>(RunClock::now() - begun -
                                                                 (context.gate->total() - paused_before))
                                       .count());
    spent = spent || context.ending.stop_requested();
    observer.on_end(reason);
  }

  StepReport step(const StepLimit& limit, RunObserver& observer) override {
    const RunRow row = context.store.run(context.run);
    const bool paused = !row.finished || row.reason == "paused" || row.reason == "begun";
    const RunClock::time_point end = after(RunClock::now(), -row.seconds);
    const RunClock::duration paused_before = context.gate->total();
    context.store.continue_run(context.run);
    Remembering<P> changes = remembering<P>(context.changes.get(), search_);
    RunRecorder<P> recorder(context.store, context.run, codec(), paused_since(paused_before));
    LoopEvents events{observer};
    Countdown countdown(context.ending, search_end(end), context.gate);
    Watching<P> watching{watch_, observer, [&] { countdown.move(search_end(end)); }};
    const std::size_t before = search_.trials().size();
    CallLimit rule{context.limits, context.gate};
    if (limit.trials) rule.trials = before + *limit.trials;
    rule.deadline = deadline(limit);
    // Several at a time while many are wanted; the last ones singly, so that no more are made than were asked
    // for.
    if (!out_of_time() && rule.trials - before > window_) {
      CallLimit early = rule;
      early.trials -= window_;
      search_.run(early, changes, recorder, events, watching);
    }
    while (!search_.done() && !context.ending.stop_requested() && !rule.reached(search_.progress()))
      if (!search_.step(changes, recorder, events, watching)) break;

    StepReport report;
    report.trials = search_.trials().size() - before;
    report.stopped = context.stop.stop_requested();
    recorder.on_end("paused");  // the time so far is in the store, where out_of_time() looks
    RunLimits ends = context.limits;
    ends.seconds.reset();  // the store's time counts, which leaves out what lay between two steps
    const bool limited = ends.reached(search_.progress());
    const bool late = countdown.over() || out_of_time();
    report.finished = !report.stopped && (search_.done() || late || limited);
    // For a run that had ended before this step the finalists were compared.
    if (report.finished && (report.trials > 0 || (late && paused && !search_.trials().empty()))) {
      measure_finalists(later(end, paused_before), observer, changes, recorder, events);
      report.stopped = context.stop.stop_requested();
    }
    report.reason = report.stopped   ? "stopped"
                    : late           ? WallTime{*context.budget.seconds}.describe()
                    : search_.done() ? search_.summary().reason
                    : limited        ? ends.describe()
                                     : "paused";
    recorder.on_end(report.reason);
    // What was in flight has been given up: the search in the store is whole, this one is not.
    spent = report.stopped || context.ending.stop_requested();
    observer.on_end(report.reason);
    return report;
  }

  std::optional<TrialId> submit(const Submission& submission, RunObserver& observer) override {
    if constexpr (std::same_as<P, Config>) {
      return submit_settings(submission, observer);
    } else {
      raise<ConfigError>("this run writes its own kernels", context.problem.name,
                         "start a run with the policy submit to hand kernels in");
    }
  }

  [[nodiscard]] std::vector<LearnedFrom> learned() override { return search_.policy().learned(); }

  [[nodiscard]] Trial<Candidate> measured_trial(TrialId id) const override {
    if (!search_.log().contains(id) || !search_.log().own(id).candidate) raise_no_trial(id);
    Trial<Candidate> trial = search_.log().own(id);
    trial.candidate = tuned(*trial.candidate, trial.outcome.evaluation.tuned_key);
    return trial;
  }
  [[nodiscard]] AnyEvaluator& measuring() override {
    if constexpr (std::same_as<Judge, RunJudge>)
      return search_.evaluator().inner();
    else
      return search_.evaluator().inner().inner();
  }
  void revise(TrialId id, Evaluation evaluation, RunObserver& observer) override {
    RunRecorder<P> recorder(context.store, context.run, codec());
    LoopEvents events{observer};
    search_.revise(id, std::move(evaluation), recorder, events);
  }

 private:
  [[nodiscard]] CandidateCodec<Candidate> codec() const { return CandidateCodec<Candidate>(lookup_); }

  /// The kernels of a resumed run are tuned from those that its first part tuned.
  void remember_tunings() {
    std::map<std::uint64_t, std::vector<StoredInnerTrial>> inner;
    for (StoredInnerTrial& trial : context.store.inner_trials(context.run))
      inner[number(trial.parent)].push_back(std::move(trial));
    for (const Trial<Candidate>& trial : search_.trials())
      if (const auto found = inner.find(number(trial.outcome.id)); trial.candidate && found != inner.end())
        search_.evaluator().remember(trial.outcome.id,
                                     tuning_of(*trial.candidate, trial.outcome.evaluation, found->second));
  }

  [[nodiscard]] RunClock::time_point deadline(const StepLimit& limit) const {
    double seconds = limit.seconds.value_or(std::numeric_limits<double>::infinity());
    if (context.budget.seconds)
      seconds = std::min(seconds, *context.budget.seconds - context.store.run(context.run).seconds);
    if (!(seconds < 1e9)) return RunClock::time_point::max();
    return RunClock::now() + std::chrono::duration_cast<RunClock::duration>(
                                 std::chrono::duration<double>(std::max(seconds, 0.0)));
  }

  /// When a budget in seconds is spent that begins at `from`, `more` seconds later.
  [[nodiscard]] RunClock::time_point after(RunClock::time_point from, double more) const {
    if (!context.budget.seconds || !(*context.budget.seconds + more < 1e9))
      return RunClock::time_point::max();
    return from + std::chrono::duration_cast<RunClock::duration>(
                      std::chrono::duration<double>(*context.budget.seconds + more));
  }
  /// The seconds of a call in which it was paused.
  [[nodiscard]] std::function<double()> paused_since(RunClock::duration before) const {
    return [gate = context.gate, before] {
      return std::chrono::duration<double>(gate->total() - before).count();
    };
  }
  /// The end of a budget that began before the call was paused.
  [[nodiscard]] RunClock::time_point later(RunClock::time_point end, RunClock::duration paused_before) const {
    return end == RunClock::time_point::max() ? end : end + (context.gate->total() - paused_before);
  }
  /// When the search has to end, so that the finalists have the rest.
  [[nodiscard]] RunClock::time_point search_end(RunClock::time_point end) const {
    if (end == RunClock::time_point::max()) return end;
    return end - std::chrono::duration_cast<RunClock::duration>(std::chrono::duration<double>(
                     finalist_seconds(*context.budget.seconds, watch_.longest())));
  }

  /// Finalists are measured by what measures, not by what remembers; until `end` at most.
  template <class... Observers>
  void measure_finalists(RunClock::time_point end, RunObserver& observer, Observers&... observers) {
    std::stop_source late;
    const std::stop_callback forward(context.stop, [&late] { late.request_stop(); });
    const Countdown countdown(late, end, context.gate);
    const std::stop_token stop = late.get_token();
    const FinalistSteps steps{
        .tell =
            [&observer](TrialId id) {
              observer.on_message("measuring finalist " + std::to_string(number(id)) + " again");
            },
        .pairing =
            [&observer](TrialId id, std::optional<TrialId> opponent) {
              observer.on_message("timing finalist " + std::to_string(number(id)) + " in pairs with " +
                                  (opponent ? "finalist " + std::to_string(number(*opponent))
                                            : std::string("the default configuration")));
            },
        .validate = context.validate,
        .passed = context.validated,
        .baseline = context.problem.default_candidate(),
        .pairs = context.pairs};
    struct Told {
      explicit Told(const std::function<void(bool)>& to) : tell(to) { say(true); }
      ~Told() { say(false); }
      void say(bool on) const {
        if (tell) tell(on);
      }
      const std::function<void(bool)>& tell;
    } const told(context.finalists);
    if (!context.problem.objectives.only_time()) {
      remeasure(stop, steps, observers...);
      return;
    }
    std::optional<Outcome> shown;
    if (search_.best() != nullptr) shown = search_.best()->outcome;
    std::optional<FinalistComparison> chosen;
    if constexpr (std::derived_from<Judge, RunTuned>) {
      AtTuned evaluator{search_};
      chosen = choose_winner(search_, evaluator, stop, steps, observers...);
    } else if constexpr (std::same_as<Judge, RunPaired>) {
      chosen = choose_winner(search_, search_.evaluator().inner().inner(), stop, steps, observers...);
    } else {
      chosen = choose_winner(search_, search_.evaluator().inner(), stop, steps, observers...);
    }
    if (!chosen) return;
    context.store.set_finalists(context.run, *chosen);
    if (search_.best() == nullptr || search_.best()->outcome.id != chosen->winner)
      observer.on_best(search_.log().own(chosen->winner));
    if (!shown) return;
    const std::string remark = winner_remark(*shown, search_.log().own(chosen->winner).outcome);
    if (!remark.empty()) observer.on_message(remark);
  }

  /// Pairs compare times. With other objectives the best is only measured again, until it is one that was.
  template <class... Observers>
  void remeasure(const std::stop_token& stop, const FinalistSteps& steps, Observers&... observers) {
    if constexpr (std::same_as<Judge, RunJudge>)
      measure_finalists_again(search_, search_.evaluator().inner(), stop, steps, observers...);
  }

  /// Measures trials again at the configurations that their inner searches found.
  struct AtTuned {
    Search& search;
    TrialId at{};  ///< the trial that was asked for last
    Candidate as_run(const Trial<Candidate>& trial) {
      at = trial.outcome.id;
      return tuned(*trial.candidate, trial.outcome.evaluation.tuned_key);
    }
    void renew() { search.evaluator().inner().inner().renew(); }
    [[nodiscard]] std::size_t lanes() const { return search.evaluator().inner().inner().lanes(); }
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& how) {
      const Evaluation known = search.log().own(at).outcome.evaluation;
      Evaluation evaluation =
          search.evaluator().inner().inner().evaluate(tuned(candidate, known.tuned_key), how);
      evaluation.tuned_key = known.tuned_key;
      for (const char* kept : {"inner_trials", "times_parent", "times_parent.low", "times_parent.high"})
        if (const auto value = known.features.find(kept)) evaluation.features.set(kept, *value);
      return evaluation;
    }
    std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                   const PairOptions& pairs) {
      return search.evaluator().inner().inner().compare(candidate, champion, pairs);
    }
  };

  std::optional<TrialId> submit_settings(const Submission& submission, RunObserver& observer) {
    if (submission.device || submission.host || submission.macros || submission.tunables)
      raise<ConfigError>("this run searches settings of one kernel", "code",
                         "give settings alone, or start a run with the policy submit for kernels");
    const auto kernel = std::make_shared<const Kernel>(context.problem.kernel);
    Config base = kernel->space.default_config();
    if (submission.parent) {
      if (!search_.log().contains(*submission.parent) || !search_.log().own(*submission.parent).candidate)
        raise<ConfigError>("no such trial in this run", std::to_string(number(*submission.parent)),
                           "name a trial that has settings");
      base = search_.log().own(*submission.parent).candidate->config;
    }
    Config config = changed_settings(kernel->space, std::move(base), submission.settings);
    context.store.continue_run(context.run);
    RunRecorder<P> recorder(context.store, context.run, codec());
    LoopEvents events{observer};
    auto job = search_.submit(config, Candidate{kernel, config}, recorder, events);
    if (!job) raise_spent();
    job->context.stop = context.stop;
    Evaluation evaluation = search_.evaluator().evaluate(job->candidate, job->context);
    std::optional<TrialId> told;
    if (context.stop.stop_requested() && evaluation.verdict != Verdict::ok) {
      spent = true;
    } else {
      search_.tell(job->id, std::move(evaluation), recorder, events);
      told = job->id;
    }
    spent = spent || context.stop.stop_requested();
    recorder.on_end("paused");
    return told;
  }

  KernelLookup lookup_;
  TrialWatch watch_;
  std::size_t window_ = 1;
  Search search_;
};

}  // namespace kernelsearch::detail
