// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <span>
#include <utility>

#include "changed_settings.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/run/submit_generator.hpp"
#include "kernelsearch/run/suggested_moves.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/run_recorder.hpp"
#include "run_search.hpp"

namespace kernelsearch::detail {
namespace {

/// A recorder for suggestions, whose asks are in the store already.
struct WithoutAsks {
  RunRecorder<Move>& recorder;
  void on_trial(const Trial<Candidate>& trial, const Move& move) { recorder.on_trial(trial, move); }
  void on_revised(const Trial<Candidate>& trial) { recorder.on_revised(trial); }
};

/// Kernels that are handed in, and a policy over moves that suggests some.
struct Submits final : RunSearch {
  Submits(RunStore& s, RunId r, AnyEvaluator evaluator, const RunPlan& how)
      : RunSearch(s, r, evaluator.problem(), how),
        root(std::make_shared<const Kernel>(problem.kernel)),
        lookup(lookup_in(store, [kernel = root](Regions regions) {
          if (regions == kernel->regions) return kernel;
          return std::make_shared<const Kernel>(Kernel{std::move(regions), kernel->space});
        })) {
    trials = std::make_shared<TrialBudget>(budget.trials.value_or(TrialBudget::unlimited));
    const auto cache = results(evaluator);
    search.emplace(
        SuggestedMoves(make_move_policy(plan.suggest, plan.strategies, plan.seed, problem.backend)),
        SubmitGenerator(root), RunJudge(std::move(evaluator), key(cache, true), cache), options(1));
    search->resume(load_record<Move>(store, run, CandidateCodec<Candidate>(lookup)));
    for (const Trial<Candidate>& trial : search->trials())
      if (!trial.outcome.origin) trials->take();
    search->policy().go_live();
  }

  std::optional<Move> suggestion() override {
    const SuggestedMoves::Suggestion suggested = search->policy().suggest();
    if (suggested.asked) {
      const AskEvent event{1, suggested.move ? std::size_t{1} : std::size_t{0}};
      store.add_asks(run, std::span(&event, 1));
    }
    return suggested.move;
  }

  /// Has the suggested move carried out, by what the generator was given for it; its trial.
  std::optional<TrialId> carry_out(const ToolCall& call) {
    if (trials->remaining() == 0) raise_spent();
    RunRecorder<Move> recorder(store, run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder};
    Teller teller(call, {.trials = 1});
    search->policy().release();
    std::optional<TrialId> trial;
    for (const Job<Candidate>& job : search->ask(1, told, teller)) trial = judge(job, told, teller);
    recorder.on_end("waiting for kernels");
    return trial;
  }

  std::optional<TrialId> judge(const Job<Candidate>& job, WithoutAsks& told, Teller& teller) {
    EvaluationContext context;
    context.trial = job.id;
    context.parents = job.context.parents;
    context.stop =
        stop.get_token();  // and no incumbent: whoever wrote a slower kernel wants to know how slow
    Evaluation evaluation = search->evaluator().evaluate(job.candidate, context);
    spent = spent || stop.stop_requested();
    if (stop.stop_requested() && evaluation.verdict != Verdict::ok) return std::nullopt;
    search->tell(job.id, std::move(evaluation), told, teller);
    return job.id;
  }

  StepReport step(const StepLimit&, const ToolCall& call) override {
    const CoreLeft left(plan.core);
    const std::stop_callback forward(call.stop(), [this] { stop.request_stop(); });
    StepReport report;
    const std::size_t before = search->trials().size();
    store.continue_run(run);
    if (const std::optional<Move> move = suggestion(); move && move->kind == MoveKind::root)
      (void)carry_out(call);
    report.trials = search->trials().size() - before;
    report.stopped = stop.stop_requested();
    report.finished = trials->remaining() == 0;
    report.reason = report.stopped    ? "stopped"
                    : report.finished ? "the trial budget is spent"
                                      : "waiting for kernels";
    store.end_run(run, report.reason, store.run(run).seconds);
    spent = spent || report.stopped;
    return report;
  }

  void decline(const std::string& reason, const ToolCall& call) override {
    const std::optional<Move> move = suggestion();
    if (!move) raise<ConfigError>("no move is suggested", "none", "hand in a kernel of your own");
    search->generator().decline(*move, reason);
    store.continue_run(run);
    (void)carry_out(call);
    spent = true;  // an ask of which nothing came ends an optimizer
  }

  [[nodiscard]] const Candidate& parent_of(const Submission& submission, const std::optional<Move>& answered,
                                           std::optional<TrialId>& id) const {
    id = submission.parent;
    if (!id && answered && !answered->parents.empty()) id = answered->parents.front();
    if (!id && search->best() != nullptr) id = search->best()->outcome.id;
    if (!id && !search->trials().empty()) id = search->trials().front().outcome.id;
    if (!id || !search->log().contains(*id) || !search->log().own(*id).candidate)
      raise<ConfigError>("no such trial with code in this run", id ? std::to_string(number(*id)) : "none",
                         "name the parent's number, as status and submit_kernel give it");
    return *search->log().own(*id).candidate;
  }

  std::optional<TrialId> submit(const Submission& submission, const ToolCall& call) override {
    const CoreLeft left(plan.core);
    const std::stop_callback forward(call.stop(), [this] { stop.request_stop(); });
    std::optional<Move> answered;
    if (submission.answers) {
      answered = suggestion();
      if (!answered || answered->kind == MoveKind::root)
        raise<ConfigError>("no move is suggested", "answers: true", "leave answers out, or call step first");
    }
    std::optional<TrialId> parent;
    const Candidate& base = parent_of(submission, answered, parent);
    Regions regions = base.kernel->regions;
    if (submission.device) regions.device = *submission.device;
    if (submission.host) regions.host = *submission.host;
    if (submission.macros) regions.macros = *submission.macros;
    Candidate candidate{base.kernel, changed_settings(base.kernel->space, base.config, submission.settings)};
    if (!(regions == base.kernel->regions))
      candidate.kernel = std::make_shared<const Kernel>(Kernel{regions, root->space});
    else if (candidate.config == base.config)
      raise<ConfigError>("the kernel is the same as its parent", std::to_string(number(*parent)),
                         "give code or settings that differ");
    if (answered) {
      search->generator().answer(*answered, std::move(candidate));
      store.continue_run(run);
      return carry_out(call);
    }
    if (trials->remaining() == 0) raise_spent();
    store.continue_run(run);
    RunRecorder<Move> recorder(store, run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder};
    Teller teller(call, {.trials = 1});
    Move move{MoveKind::submitted,
              {*parent},
              submission.strategies,
              static_cast<std::uint32_t>(search->trials().size())};
    const auto job = search->submit(std::move(move), std::move(candidate), told, teller);
    if (!job) raise_spent();
    const std::optional<TrialId> trial = judge(*job, told, teller);
    recorder.on_end("waiting for kernels");
    return trial;
  }

  std::shared_ptr<const Kernel> root;
  KernelLookup lookup;
  std::optional<Optimizer<SuggestedMoves, SubmitGenerator, RunJudge>> search;
};

}  // namespace

std::unique_ptr<RunSearch> search_submits(RunStore& store, RunId run, AnyEvaluator evaluator,
                                          const RunPlan& plan) {
  return std::make_unique<Submits>(store, run, std::move(evaluator), plan);
}

}  // namespace kernelsearch::detail
