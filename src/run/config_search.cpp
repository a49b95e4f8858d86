// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <utility>

#include "changed_settings.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/run/finalists.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "run_search.hpp"

namespace kernelsearch::detail {
namespace {

/// Ends a step; what is in flight is finished all the same.
struct Pause {
  std::uint64_t trials = 0;
  RunClock::time_point deadline = RunClock::time_point::max();
  [[nodiscard]] bool reached(const RunProgress& progress) const {
    return progress.trials >= trials || RunClock::now() >= deadline;
  }
  [[nodiscard]] std::string describe() const { return "paused"; }
};

/// A policy over the tunables of one kernel.
struct Configs final : RunSearch {
  Configs(RunStore& s, RunId r, AnyEvaluator evaluator, const RunPlan& how)
      : RunSearch(s, r, evaluator.problem(), how) {
    kernel = std::make_shared<const Kernel>(problem.kernel);
    if (!budget.trials && !budget.seconds && kernel->space.count().fits_u64())
      budget.trials = kernel->space.count().low();
    trials = std::make_shared<TrialBudget>(budget.trials.value_or(TrialBudget::unlimited));
    auto policy = make_config_policy(plan.policy, {kernel->space, plan.seed, budget.trials, {}});
    const auto cache = results(evaluator);
    const OptimizerOptions how_to = options(evaluator.lanes());
    window = how_to.in_flight;
    search.emplace(std::move(policy), TemplateGenerator(kernel),
                   RunJudge(std::move(evaluator), key(cache, false), cache), how_to);
    search->resume(load_record<Config>(store, run, codec()));
    count_foreign();
  }

  [[nodiscard]] CandidateCodec<Candidate> codec() const {
    return CandidateCodec<Candidate>(lookup_among({kernel}));
  }

  /// Resuming draws for the policy's own trials alone.
  void count_foreign() {
    for (const Trial<Candidate>& trial : search->trials())
      if (!trial.outcome.origin) trials->take();
  }

  StepReport step(const StepLimit& limit, const ToolCall& call) override {
    const CoreLeft left(plan.core);
    const std::stop_callback forward(call.stop(), [this] { stop.request_stop(); });
    const std::size_t before = search->trials().size();
    StepReport report;
    store.continue_run(run);
    RunRecorder<Config> recorder(store, run, codec());
    Teller teller(call, limit);
    Pause pause;
    pause.trials = limit.trials ? before + *limit.trials : std::numeric_limits<std::uint64_t>::max();
    pause.deadline = deadline(limit);
    // Several at a time while many are wanted; the last ones singly, so that no more are made than were asked
    // for.
    if (!out_of_time() && pause.trials - before > window)
      search->run(Pause{pause.trials - window, pause.deadline}, recorder, teller);
    while (!search->done() && !stop.stop_requested() && !pause.reached(search->progress()))
      if (!search->step(recorder, teller)) break;

    report.trials = search->trials().size() - before;
    report.stopped = stop.stop_requested();
    recorder.on_end("paused");  // the time so far is in the store, where out_of_time() looks
    report.finished = !report.stopped && (search->done() || out_of_time());
    if (report.finished && report.trials > 0) {
      measure_finalists_again(
          *search, search->evaluator().inner(), stop.get_token(),
          {.tell =
               [&teller](TrialId id) { teller.say(fmt::format("measuring finalist {} again", number(id))); }},
          recorder, teller);
      report.stopped = stop.stop_requested();
    }
    report.reason = report.stopped    ? "stopped"
                    : search->done()  ? search->summary().reason
                    : report.finished ? fmt::format("{} s of wall time", *budget.seconds)
                                      : "paused";
    recorder.on_end(report.reason);
    spent = report.stopped;
    return report;
  }

  [[nodiscard]] RunClock::time_point deadline(const StepLimit& limit) const {
    double seconds = limit.seconds.value_or(std::numeric_limits<double>::infinity());
    if (budget.seconds) seconds = std::min(seconds, *budget.seconds - store.run(run).seconds);
    if (!(seconds < 1e9)) return RunClock::time_point::max();
    return RunClock::now() + std::chrono::duration_cast<RunClock::duration>(
                                 std::chrono::duration<double>(std::max(seconds, 0.0)));
  }

  std::optional<TrialId> submit(const Submission& submission, const ToolCall& call) override {
    if (submission.device || submission.host || submission.macros)
      raise<ConfigError>("this run searches settings of one kernel", "code",
                         "give settings alone, or start a run with the policy submit for kernels");
    const CoreLeft left(plan.core);
    const std::stop_callback forward(call.stop(), [this] { stop.request_stop(); });
    Config base = kernel->space.default_config();
    if (submission.parent) {
      if (!search->log().contains(*submission.parent) || !search->log().own(*submission.parent).candidate)
        raise<ConfigError>("no such trial in this run", std::to_string(number(*submission.parent)),
                           "name a trial that has settings");
      base = search->log().own(*submission.parent).candidate->config;
    }
    Config config = changed_settings(kernel->space, std::move(base), submission.settings);
    store.continue_run(run);
    RunRecorder<Config> recorder(store, run, codec());
    Teller teller(call, {.trials = 1});
    auto job = search->submit(config, Candidate{kernel, config}, recorder, teller);
    if (!job) raise_spent();
    job->context.stop = stop.get_token();
    Evaluation evaluation = search->evaluator().evaluate(job->candidate, job->context);
    std::optional<TrialId> told;
    if (stop.stop_requested() && evaluation.verdict != Verdict::ok) {
      spent = true;
    } else {
      search->tell(job->id, std::move(evaluation), recorder, teller);
      told = job->id;
    }
    spent = spent || stop.stop_requested();
    recorder.on_end("paused");
    return told;
  }

  std::shared_ptr<const Kernel> kernel;
  std::size_t window = 1;
  std::optional<Optimizer<AnyPolicy<Config>, TemplateGenerator, RunJudge>> search;
};

}  // namespace

std::unique_ptr<RunSearch> search_configs(RunStore& store, RunId run, AnyEvaluator evaluator,
                                          const RunPlan& plan) {
  return std::make_unique<Configs>(store, run, std::move(evaluator), plan);
}

}  // namespace kernelsearch::detail
