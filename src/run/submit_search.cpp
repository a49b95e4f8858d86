// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agents/same_kernel.hpp"
#include "changed_settings.hpp"
#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/tuning_policy.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/run/stored_candidate.hpp"
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
  Remembering<Move> changes;
  void on_trial(const Trial<Candidate>& trial, const Move& move) {
    changes.on_trial(trial, move);
    recorder.on_trial(trial, move);
  }
  void on_revised(const Trial<Candidate>& trial) {
    changes.on_revised(trial);
    recorder.on_revised(trial);
  }
};

/// Kernels that are handed in, and a policy over moves that suggests some.
struct Submits final : KernelSearch {
  Submits(SearchContext c, const RunOptions& options, RunJudge judge, OptimizerOptions loop)
      : KernelSearch(std::move(c)),
        root(std::make_shared<const Kernel>(context.problem.kernel)),
        lookup(lookup_in(context.store, submitted_kernels(context.problem))),
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
    WithoutAsks told{recorder, remembering<Move>(context.changes.get(), search)};
    LoopEvents events{observer};
    search.policy().release();
    std::optional<TrialId> trial;
    for (const Job<Candidate>& job : search.ask(1, told, events)) trial = judge(job, told, events);
    recorder.on_end("waiting for kernels");
    return trial;
  }

  /// Without `incumbent`, since the one who wrote a slower kernel wants to know how slow.
  std::optional<TrialId> judge(const Job<Candidate>& job, WithoutAsks& told, LoopEvents& events,
                               std::optional<double> incumbent = {}) {
    EvaluationContext how;
    how.trial = job.id;
    how.parents = job.context.parents;
    how.stop = context.stop;
    how.incumbent = incumbent;
    Evaluation evaluation = search.evaluator().evaluate(job.candidate, how);
    spent = spent || context.stop.stop_requested();
    if (context.stop.stop_requested() && evaluation.verdict != Verdict::ok) return std::nullopt;
    search.tell(job.id, std::move(evaluation), told, events);
    return job.id;
  }

  /// The writer of the kernels decides when it ends; what there is to do alone is the problem's own kernel.
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
    if (!id)
      raise<ConfigError>("no such trial with code in this run", "none",
                         "name the parent's number, as status and submit_kernel give it");
    if (!search.log().contains(*id) || !search.log().own(*id).candidate) raise_no_trial(*id);
    return *search.log().own(*id).candidate;
  }

  [[nodiscard]] Trial<Candidate> measured_trial(TrialId id) const override {
    if (!search.log().contains(id) || !search.log().own(id).candidate) raise_no_trial(id);
    return search.log().own(id);
  }
  [[nodiscard]] AnyEvaluator& measuring() override { return search.evaluator().inner(); }
  void revise(TrialId id, Evaluation evaluation, RunObserver& observer) override {
    RunRecorder<Move> recorder(context.store, context.run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder, remembering<Move>(context.changes.get(), search)};
    LoopEvents events{observer};
    search.revise(id, std::move(evaluation), told, events);
  }

  /// The kernel that the submission makes of its parent's.
  [[nodiscard]] std::shared_ptr<const Kernel> kernel_of(const Submission& submission,
                                                        const std::shared_ptr<const Kernel>& base) const {
    Regions regions = base->regions;
    if (submission.device) regions.device = *submission.device;
    if (submission.host) regions.host = *submission.host;
    if (submission.macros) {
      // Tunables that the new text says nothing of are still the kernel's.
      const std::string parents = declaration_line(declarations_of(base->regions.macros));
      const bool declares = !declarations_of(*submission.macros).empty();
      regions.macros = (declares ? "" : parents) + *submission.macros;
    }
    if (submission.tunables) {
      const DeclaredTunables declared = read_declared_tunables(*submission.tunables, "tunables");
      regions.macros = without_declarations(regions.macros);
      for (const Tunable& tunable : declared.tunables)
        if (!mentions(regions.device, tunable.name) && !mentions(regions.host, tunable.name) &&
            !mentions(regions.macros, tunable.name))
          raise<ConfigError>("the code does not use this tunable", tunable.name,
                             "use it as a macro in the code, or leave it out");
      regions.macros = declaration_line(declared) + regions.macros;
    }
    if (regions == base->regions) return base;
    return std::make_shared<const Kernel>(kernel_with_declared(root->space, std::move(regions)));
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
    Candidate candidate{kernel_of(submission, base.kernel), {}};
    const Space& space = candidate.kernel->space;
    candidate.config =
        changed_settings(space, carried_over(base.kernel->space, base.config, space), submission.settings);
    if (candidate.config == base.config && detail::same_kernel(*candidate.kernel, *base.kernel))
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
    WithoutAsks told{recorder, remembering<Move>(context.changes.get(), search)};
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

  TuneReport tune(const TuneRequest& request, RunObserver& observer) override {
    Submission at;
    at.parent = request.trial;
    std::optional<TrialId> parent;
    const Candidate base = parent_of(at, std::nullopt, parent);
    const Space& space = base.kernel->space;
    if (space.count().fits_u64() && space.count().low() < 2)
      raise<ConfigError>("this kernel has nothing to tune",
                         fmt::format("trial {} has one configuration", number(*parent)),
                         "hand it in with tunables that its code uses");
    if (context.trials->remaining() == 0) raise_spent();
    TuneReport report{.of = *parent, .trials = {}, .best = {}, .stopped = false, .reason = {}};
    OptimizerOptions goes_by;
    goes_by.objectives = context.problem.objectives;
    Optimizer inner(policy_for(base, request), TemplateGenerator(base.kernel), External{},
                    std::move(goes_by));
    std::unordered_map<std::string, Evaluation> known;
    double fastest = std::numeric_limits<double>::infinity();
    const auto take = [&](const Trial<Candidate>& trial) {
      known.emplace(space.key(trial.candidate->config), trial.outcome.evaluation);
      if (!trial.outcome.ok() || !(trial.outcome.objective < fastest)) return;
      fastest = trial.outcome.objective;
      report.best = trial.outcome.id;
    };
    for (const Trial<Candidate>& trial : search.trials()) {
      if (trial.candidate && detail::same_kernel(*trial.candidate->kernel, *base.kernel)) take(trial);
    }
    context.store.continue_run(context.run);
    RunRecorder<Move> recorder(context.store, context.run, CandidateCodec<Candidate>(lookup));
    WithoutAsks told{recorder, remembering<Move>(context.changes.get(), search)};
    LoopEvents events{observer};
    report.reason = search_settings(request, inner, known, report, take, fastest, told, events);
    report.stopped = context.stop.stop_requested();
    recorder.on_end("waiting for kernels");
    return report;
  }

  /// What the trials of this run say of a kernel's configurations.
  [[nodiscard]] std::shared_ptr<const KernelTuning> tuning_of_kernel(
      const std::shared_ptr<const Kernel>& kernel) const {
    auto tuning = std::make_shared<KernelTuning>(KernelTuning{kernel, {}, {}});
    for (const Trial<Candidate>& trial : search.trials())
      if (trial.candidate && detail::same_kernel(*trial.candidate->kernel, *kernel))
        tuning->points.push_back(
            {trial.candidate->config, trial.outcome.evaluation.verdict, trial.outcome.objective});
    return tuning;
  }

  /// The policy of `tune`: it begins with what is known of the kernel and of those that it was made from.
  [[nodiscard]] TuningPolicy<AnyPolicy<Config>> policy_for(const Candidate& base,
                                                           const TuneRequest& request) const {
    const Space& space = base.kernel->space;
    std::vector<std::shared_ptr<const KernelTuning>> told{tuning_of_kernel(base.kernel)}, learned;
    std::vector<EarlierRun> runs;
    std::vector<std::shared_ptr<const Kernel>> parents;
    for (const Trial<Candidate>& trial : search.trials()) {
      if (!trial.candidate || !detail::same_kernel(*trial.candidate->kernel, *base.kernel)) continue;
      for (const TrialId id : trial.outcome.parents) {
        if (!search.log().contains(id)) continue;
        const Trial<Candidate>& parent = search.log().own(id);
        const auto same = [&parent](const auto& one) {
          return detail::same_kernel(*one, *parent.candidate->kernel);
        };
        if (!parent.candidate || same(base.kernel) || std::any_of(parents.begin(), parents.end(), same))
          continue;
        parents.push_back(parent.candidate->kernel);
        const auto tuning = tuning_of_kernel(parents.back());
        const bool enough = says_enough(*tuning, space);
        (enough ? learned : told).push_back(tuning);
        if (enough) runs.push_back(earlier_run(*tuning, space));
      }
    }
    const std::vector<Config> own{base.config, space.default_config()};
    return {make_config_policy(request.policy, {.space = space,
                                                .seed = search.trials().size(),
                                                .budget = request.trials,
                                                .earlier = std::move(runs),
                                                .objectives = context.problem.objectives}),
            space,
            own,
            told,
            {},
            learned};
  }

  /// The loop of `tune`; why it ended.
  template <class Inner, class Take>
  std::string search_settings(const TuneRequest& request, Inner& inner,
                              const std::unordered_map<std::string, Evaluation>& known, TuneReport& report,
                              const Take& take, const double& fastest, WithoutAsks& told,
                              LoopEvents& events) {
    std::uint64_t repeats = 0;  // of what is known, which costs no trial
    while (report.trials.size() < request.trials) {
      if (context.stop.stop_requested()) return "stopped";
      auto jobs = inner.ask(1);
      if (jobs.empty())
        return inner.policy().given_up()
                   ? fmt::format("none of {} configurations was right", inner.trials().size())
                   : "the policy has no more to propose";
      Job<Candidate>& job = jobs.front();
      const Space& space = job.candidate.kernel->space;
      if (const auto seen = known.find(space.key(job.candidate.config)); seen != known.end()) {
        inner.tell(job.id, seen->second);
        if (++repeats > 10 * request.trials) return "the policy has nothing new to propose";
        continue;
      }
      Move move{
          MoveKind::submitted, {report.of}, {"tune"}, static_cast<std::uint32_t>(search.trials().size())};
      const auto outer = search.submit(std::move(move), job.candidate, told, events);
      if (!outer) return "the trial budget is spent";
      // One that is slower may be the best in another objective, and is measured to the end.
      const bool known_time =
          context.problem.objectives.only_time() && fastest < std::numeric_limits<double>::infinity();
      const auto incumbent = known_time ? std::optional(fastest) : std::nullopt;
      const auto trial = judge(*outer, told, events, incumbent);
      if (!trial) return "stopped";
      report.trials.push_back(*trial);
      take(search.log().own(*trial));
      inner.tell(job.id, search.log().own(*trial).outcome.evaluation);
    }
    return "the trials are spent";
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
