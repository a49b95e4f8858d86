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
#include "typed_search.hpp"

namespace kernelsearch::detail {
namespace {

/// A recorder for suggestions, whose asks are in the store already.
struct WithoutAsks {
  RunRecorder<Move>& recorder;
  void on_trial(const Trial<Candidate>& trial, const Move& move) { recorder.on_trial(trial, move); }
  void on_revised(const Trial<Candidate>& trial) { recorder.on_revised(trial); }
};

/// Kernels that are handed in, and a policy over moves that suggests some.
struct Submits final : KernelSearch {
  Submits(SearchContext c, const RunOptions& options, RunJudge judge, OptimizerOptions loop)
      : KernelSearch(std::move(c)),
        root(std::make_shared<const Kernel>(context.problem.kernel)),
        lookup(lookup_in(context.store,
                         [kernel = root](Regions regions) {
                           if (regions == kernel->regions) return kernel;
                           return std::make_shared<const Kernel>(Kernel{std::move(regions), kernel->space});
                         })),
        search(SuggestedMoves(make_move_policy(options.suggest, options.strategies, options.seed,
                                               context.problem.backend)),
               SubmitGenerator(root), std::move(judge), std::move(loop)) {
    search.resume(load_record<Move>(context.store, context.run, CandidateCodec<Candidate>(lookup)));
    for (const Trial<Candidate>& trial : search.trials())
      if (!trial.outcome.origin) context.trials->take();
    search.policy().go_live();
  }

  std::optional<Move> suggestion() override {
    const SuggestedMoves::Suggestion suggested = search.policy().suggest();
    if (suggested.asked) {
      const AskEvent event{1, suggested.move ? std::size_t{1} : std::size_t{0}};
      context.store.add_asks(context.run, std::span(&event, 1));
    }
    return suggested.move;
  }

  /// Has the suggested move carried out, by what the generator was given for it; its trial.
  std::optional<TrialId> carry_out(RunObserver& observer) {
    if (context.trials->remaining() == 0) raise_spent();
    RunRecorder<Move> recorder(context.store, context.run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder};
    LoopEvents events{observer};
    search.policy().release();
    std::optional<TrialId> trial;
    for (const Job<Candidate>& job : search.ask(1, told, events)) trial = judge(job, told, events);
    recorder.on_end("waiting for kernels");
    return trial;
  }

  std::optional<TrialId> judge(const Job<Candidate>& job, WithoutAsks& told, LoopEvents& events) {
    EvaluationContext how;
    how.trial = job.id;
    how.parents = job.context.parents;
    how.stop = context.stop;  // and no incumbent: whoever wrote a slower kernel wants to know how slow
    Evaluation evaluation = search.evaluator().evaluate(job.candidate, how);
    spent = spent || context.stop.stop_requested();
    if (context.stop.stop_requested() && evaluation.verdict != Verdict::ok) return std::nullopt;
    search.tell(job.id, std::move(evaluation), told, events);
    return job.id;
  }

  /// Whoever writes the kernels decides when it ends; what there is to do alone is the problem's own kernel.
  void to_end(RunObserver& observer) override { (void)step({}, observer); }

  StepReport step(const StepLimit&, RunObserver& observer) override {
    StepReport report;
    const std::size_t before = search.trials().size();
    context.store.continue_run(context.run);
    if (const std::optional<Move> move = suggestion(); move && move->kind == MoveKind::root)
      (void)carry_out(observer);
    report.trials = search.trials().size() - before;
    report.stopped = context.stop.stop_requested();
    report.finished = context.trials->remaining() == 0;
    report.reason = report.stopped    ? "stopped"
                    : report.finished ? "the trial budget is spent"
                                      : "waiting for kernels";
    context.store.end_run(context.run, report.reason, context.store.run(context.run).seconds);
    spent = spent || report.stopped;
    observer.on_end(report.reason);
    return report;
  }

  void decline(const std::string& reason, RunObserver& observer) override {
    const std::optional<Move> move = suggestion();
    if (!move) raise<ConfigError>("no move is suggested", "none", "hand in a kernel of your own");
    search.generator().decline(*move, reason);
    context.store.continue_run(context.run);
    (void)carry_out(observer);
    spent = true;  // a proposal without a candidate ends an optimizer that waits for it
  }

  [[nodiscard]] const Candidate& parent_of(const Submission& submission, const std::optional<Move>& answered,
                                           std::optional<TrialId>& id) const {
    id = submission.parent;
    if (!id && answered && !answered->parents.empty()) id = answered->parents.front();
    if (!id && search.best() != nullptr) id = search.best()->outcome.id;
    if (!id && !search.trials().empty()) id = search.trials().front().outcome.id;
    if (!id || !search.log().contains(*id) || !search.log().own(*id).candidate)
      raise<ConfigError>("no such trial with code in this run", id ? std::to_string(number(*id)) : "none",
                         "name the parent's number, as status and submit_kernel give it");
    return *search.log().own(*id).candidate;
  }

  std::optional<TrialId> submit(const Submission& submission, RunObserver& observer) override {
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
      search.generator().answer(*answered, std::move(candidate));
      context.store.continue_run(context.run);
      return carry_out(observer);
    }
    if (context.trials->remaining() == 0) raise_spent();
    context.store.continue_run(context.run);
    RunRecorder<Move> recorder(context.store, context.run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder};
    LoopEvents events{observer};
    Move move{MoveKind::submitted,
              {*parent},
              submission.strategies,
              static_cast<std::uint32_t>(search.trials().size())};
    const auto job = search.submit(std::move(move), std::move(candidate), told, events);
    if (!job) raise_spent();
    const std::optional<TrialId> trial = judge(*job, told, events);
    recorder.on_end("waiting for kernels");
    return trial;
  }

  std::shared_ptr<const Kernel> root;
  KernelLookup lookup;
  Optimizer<SuggestedMoves, SubmitGenerator, RunJudge> search;
};

}  // namespace

std::unique_ptr<KernelSearch> make_submit_search(SearchContext context, const RunOptions& options,
                                                 RunJudge judge, OptimizerOptions loop) {
  return std::make_unique<Submits>(std::move(context), options, std::move(judge), std::move(loop));
}

}  // namespace kernelsearch::detail
