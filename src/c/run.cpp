// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "handles.hpp"
#include "kernelsearch/run/run_option.hpp"

namespace kernelsearch::c {
namespace {

/// What is lent of a candidate while it is judged, or after.
void describe(ks_trial& trial, TrialId id, const std::optional<Candidate>& candidate) {
  trial.number = number(id);
  if (!candidate) return;
  trial.space.emplace(candidate->kernel->space);
  trial.config = &candidate->config;
  trial.code = &candidate->kernel->regions;
}

/// Passes what happens in a run on to the caller.
class Watcher final : public RunObserver {
 public:
  Watcher(ks_watch watch, void* user) : watch_(watch), user_(user) {}

  void on_trial(const kernelsearch::Trial<Candidate>& trial) override { tell(KS_EVENT_TRIAL, trial); }
  void on_best(const kernelsearch::Trial<Candidate>& trial) override { tell(KS_EVENT_BEST, trial); }
  void on_revised(const kernelsearch::Trial<Candidate>& trial) override { tell(KS_EVENT_REVISED, trial); }
  void on_message(std::string_view text) override { tell(KS_EVENT_MESSAGE, text); }
  void on_end(std::string_view reason) override { tell(KS_EVENT_ENDED, reason); }

 private:
  void tell(ks_event event, const kernelsearch::Trial<Candidate>& trial) {
    if (watch_ == nullptr) return;
    ks_trial lent;
    describe(lent, trial.outcome.id, trial.candidate);
    lent.evaluation = &trial.outcome.evaluation;
    lent.objective = trial.outcome.evaluation.measurement.seconds;
    lent.foreign = !trial.outcome.origin.has_value();
    watch_(user_, event, &lent, nullptr);
  }
  void tell(ks_event event, std::string_view text) {
    if (watch_ != nullptr) watch_(user_, event, nullptr, std::string(text).c_str());
  }

  ks_watch watch_;
  void* user_;
};

/// The caller's function as an evaluator of one device.
class OwnEvaluator {
 public:
  struct Artifact {
    Candidate candidate;
  };

  OwnEvaluator(OwnJudge judge, Problem problem) : judge_(std::move(judge)), problem_(std::move(problem)) {}

  [[nodiscard]] Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    return {{}, Artifact{candidate}};
  }
  [[nodiscard]] Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    const std::optional<Candidate> candidate = std::move(staged.artifact->candidate);
    ks_trial trial;
    describe(trial, context.trial, candidate);
    ks_verdict verdict = KS_VERDICT_OK;
    double seconds = std::nan("");
    std::array<char, 2048> reason{};
    const int returned =
        judge_.evaluate(judge_.user, &trial, &verdict, &seconds, reason.data(), reason.size());
    if (returned != 0)
      refuse(KS_CALLBACK_FAILED, "an evaluator failed", "it returned " + std::to_string(returned),
             "return 0, and say in the verdict what is wrong with a candidate");
    if (static_cast<int>(verdict) < 0 || static_cast<int>(verdict) >= verdict_count)
      refuse(KS_CALLBACK_FAILED, "an evaluator gave a verdict that there is not",
             std::to_string(static_cast<int>(verdict)), "give one of the KS_VERDICT_ constants");
    if (verdict == KS_VERDICT_OK && !std::isfinite(seconds))
      refuse(KS_CALLBACK_FAILED, "an evaluator gave no seconds", std::to_string(seconds),
             "set *seconds, or a verdict that says what is wrong");
    reason.back() = '\0';
    return verdict == KS_VERDICT_OK ? Evaluation::succeeded(seconds)
                                    : Evaluation::failed(static_cast<Verdict>(verdict), reason.data());
  }
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] std::string device_id() const { return judge_.device; }
  [[nodiscard]] std::string toolchain_id() const { return judge_.toolchain; }

 private:
  OwnJudge judge_;
  Problem problem_;
};

RunOptions read_run_options(const char* json) {
  RunOptions options;
  const Options given(json);
  for (const auto& [name, value] : given.object().items()) {
    const Result<const RunOption*> option = try_find_run_option(name);
    if (!option) refuse(KS_UNKNOWN_NAME, option.error().what, option.error().given, option.error().todo);
    const Result<void> set = try_set_run_options(options, {{name, value}});
    if (!set)
      refuse((*option)->choices.empty() ? KS_WRONG_TYPE : KS_CONFIG_ERROR, set.error().what,
             set.error().given, set.error().todo);
  }
  return options;
}

}  // namespace
}  // namespace kernelsearch::c

struct ks_run : kernelsearch::c::Marked<11> {
  ks_run(ks_watch watch, void* user) : watcher(watch, user) {}
  std::atomic<bool> busy = false;
  kernelsearch::c::Watcher watcher;  // outlives the run
  std::optional<kernelsearch::Run> run;
  std::optional<kernelsearch::RunResult> result;
};

using namespace kernelsearch;     // NOLINT: as in space.cpp
using namespace kernelsearch::c;  // NOLINT

namespace kernelsearch::c {
namespace {

RunParts parts_of(ks_run& made, const ks_problem* problem, const ks_policy* policy,
                  const ks_evaluator* evaluator) {
  RunParts parts;
  parts.observer = &made.watcher;
  if (policy != nullptr) parts.make_policy = checked(policy).recipe->make;
  if (evaluator != nullptr) {
    if (problem == nullptr)
      refuse(KS_BAD_ARGUMENT, "an evaluator needs the problem that it judges", "NULL", "give the problem");
    parts.evaluator = OwnEvaluator(checked(evaluator).judge, checked(problem).problem);
  }
  if (problem != nullptr) {
    parts.problem = checked(problem).problem;
    parts.problem_path = problem->path;
  }
  return parts;
}

/// What a run came to, once it was finished.
const RunResult& result_of(ks_run* run) {
  if (!checked(run).result)
    refuse(KS_NONE, "the run was not finished yet", "run " + std::to_string(number(run->run->id())),
           "call ks_run_finish()");
  return *run->result;
}

const StoredTrial& winner_of(ks_run* run) {
  const RunResult& result = result_of(run);
  if (!result.best) refuse(KS_NONE, "the run has no winner", result.reason, "look at the trials' reasons");
  return *result.best;
}

}  // namespace
}  // namespace kernelsearch::c

ks_status ks_run_start(const ks_problem* problem, const char* options, const ks_policy* policy,
                       const ks_evaluator* evaluator, ks_watch watch, void* user, ks_run** out) {
  return guarded([&] {
    const Problem& what = checked(problem).problem;
    RunOptions with = read_run_options(options);
    if (policy != nullptr) with.policy = checked(policy).recipe->name;
    give(out, [&] {
      auto made = std::make_unique<ks_run>(watch, user);
      RunParts parts = parts_of(*made, problem, policy, evaluator);
      made->run.emplace(Run::start(what, std::move(with), std::move(parts)));
      return made;
    });
  });
}
ks_status ks_run_resume(const char* run, const char* options, const ks_problem* problem,
                        const ks_policy* policy, const ks_evaluator* evaluator, ks_watch watch, void* user,
                        ks_run** out) {
  return guarded([&] {
    const std::string_view which = text_of(run, "run");
    RunOptions with = read_run_options(options);
    give(out, [&] {
      auto made = std::make_unique<ks_run>(watch, user);
      RunParts parts = parts_of(*made, problem, policy, evaluator);
      made->run.emplace(Run::resume(which, std::move(with), std::move(parts)));
      return made;
    });
  });
}
ks_status ks_run_free(ks_run* run) {
  return freed(run);
}

ks_status ks_run_number(ks_run* run, int64_t* id) {
  return guarded([&] { *needed(id, "number") = number(checked(run).run->id()); });
}
ks_status ks_run_step(ks_run* run, uint64_t trials, double seconds, int* finished) {
  return guarded([&] {
    checked(run);
    const Working working(run->busy);
    if (!(seconds >= 0))
      refuse(KS_BAD_ARGUMENT, "a limit is not a time", std::to_string(seconds),
             "give seconds, or 0 for none");
    StepLimit limit;
    if (trials > 0) limit.trials = trials;
    if (seconds > 0) limit.seconds = seconds;
    const StepReport report = run->run->step(limit, run->watcher);
    if (finished != nullptr) *finished = report.finished ? 1 : 0;
  });
}
ks_status ks_run_to_end(ks_run* run) {
  return guarded([&] {
    checked(run);
    const Working working(run->busy);
    run->run->to_end(run->watcher);
  });
}
ks_status ks_run_request_stop(ks_run* run) {
  return guarded([&] { checked(run).run->request_stop(); });
}
ks_status ks_run_finish(ks_run* run) {
  return guarded([&] {
    checked(run);
    const Working working(run->busy);
    run->result = run->run->finish();
  });
}
ks_status ks_run_reason(ks_run* run, char* text, size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Working working(checked(run).busy);
    write_text(result_of(run).reason, text, capacity, needed_bytes);
  });
}
ks_status ks_run_trials(ks_run* run, uint64_t* trials) {
  return guarded([&] {
    const Working working(checked(run).busy);
    *needed(trials, "trials") = result_of(run).row.trials;
  });
}
ks_status ks_run_best(ks_run* run, uint64_t* trial, double* seconds) {
  return guarded([&] {
    const Working working(checked(run).busy);
    const StoredTrial& winner = winner_of(run);
    if (trial != nullptr) *trial = number(winner.outcome.id);
    if (seconds != nullptr) *seconds = winner.outcome.evaluation.measurement.seconds;
  });
}
ks_status ks_run_objective(ks_run* run, const char* name, double* value) {
  return guarded([&] {
    const Working working(checked(run).busy);
    needed(value, "value");
    *value = objective_value(winner_of(run).outcome.evaluation, text_of(name, "name"));
  });
}
ks_status ks_run_settings(ks_run* run, char* json, size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Working working(checked(run).busy);
    const StoredTrial& winner = winner_of(run);
    write_text(winner.candidate ? winner.candidate->values : "{}", json, capacity, needed_bytes);
  });
}
ks_status ks_run_speedup(ks_run* run, double* ratio, double* low, double* high) {
  return guarded([&] {
    const Working working(checked(run).busy);
    needed(ratio, "ratio");
    const auto& speedup = winner_of(run).outcome.evaluation.measurement.speedup;
    if (!speedup)
      refuse(KS_NONE, "the winner was not measured against a reference", result_of(run).reason,
             "only this machine's evaluators measure that");
    *ratio = speedup->ratio;
    if (low != nullptr) *low = speedup->interval.low;
    if (high != nullptr) *high = speedup->interval.high;
  });
}
ks_status ks_run_file(ks_run* run, const char* what, char* path, size_t capacity, size_t* needed_bytes) {
  return guarded([&] {
    const Working working(checked(run).busy);
    const std::string_view wanted = text_of(what, "what");
    for (const auto& [name, file] : result_of(run).files)
      if (name == wanted) return write_text(file.string(), path, capacity, needed_bytes);
    refuse(KS_NONE, "the run wrote no such file", wanted, "ask for it by the option \"out\" or \"record\"");
  });
}
