// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/service/run_session.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <unordered_map>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/evaluator/cached.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/service/budget.hpp"
#include "kernelsearch/service/finalists.hpp"
#include "kernelsearch/service/measuring.hpp"
#include "kernelsearch/service/submit_generator.hpp"
#include "kernelsearch/service/suggested_moves.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/result_cache.hpp"
#include "kernelsearch/store/run_recorder.hpp"

namespace kernelsearch {
namespace {

using Clock = std::chrono::steady_clock;
using Key = std::function<std::string(const Candidate&)>;
using Judge = Cached<AnyEvaluator, Key, ResultCache>;

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
    const double gone = std::chrono::duration<double>(Clock::now() - begun_).count();
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
  Clock::time_point begun_ = Clock::now();
};

/// Ends a step; what is in flight is finished all the same.
struct Pause {
  std::uint64_t trials = 0;
  Clock::time_point deadline = Clock::time_point::max();
  [[nodiscard]] bool reached(const RunProgress& progress) const {
    return progress.trials >= trials || Clock::now() >= deadline;
  }
  [[nodiscard]] std::string describe() const { return "paused"; }
};

/// A recorder for suggestions, whose asks are in the store already.
struct WithoutAsks {
  RunRecorder<Move>& recorder;
  void on_trial(const Trial<Candidate>& trial, const Move& move) { recorder.on_trial(trial, move); }
  void on_revised(const Trial<Candidate>& trial) { recorder.on_revised(trial); }
};

/// Finds submitted kernels again: their text is in the store, their space is the problem's.
KernelLookup lookup_in(const RunStore& store, std::shared_ptr<const Kernel> root) {
  auto known = std::make_shared<std::unordered_map<std::string, std::shared_ptr<const Kernel>>>();
  known->emplace(kernel_digest(*root), root);
  return [&store, root = std::move(root), known](const std::string& digest) {
    if (const auto found = known->find(digest); found != known->end()) return found->second;
    const std::optional<StoredKernel> stored = store.kernel(digest);
    if (stored) {
      auto kernel =
          std::make_shared<const Kernel>(Kernel{{stored->device, stored->host, stored->macros}, root->space});
      if (kernel_digest(*kernel) == digest) return known->emplace(digest, std::move(kernel)).first->second;
    }
    detail::raise<ConfigError>("the kernel of a stored trial is not known", digest.substr(0, 16),
                               "the problem's tunables have changed since: start a new run");
  };
}

std::string values_text(const Tunable& tunable) {
  std::string text;
  for (std::size_t i = 0; i < tunable.values.size() && i < 32; ++i)
    text += (i == 0 ? "" : ", ") + to_string(tunable.values[i]);
  return tunable.values.size() > 32 ? text + ", ..." : text;
}

bool same_value(const Value& a, const Value& b) {
  if (a == b) return true;
  const auto numeric = [](const Value& v) {
    return std::holds_alternative<std::int64_t>(v) || std::holds_alternative<double>(v);
  };
  return numeric(a) && numeric(b) && to_number(a) == to_number(b);
}

/// `config` with these values; ConfigError where the space has no such tunable, value or configuration.
Config changed(const Space& space, Config config, const std::vector<NamedValue>& settings) {
  std::vector<std::string> names;
  for (const Tunable& tunable : space.tunables()) names.push_back(tunable.name);
  for (const auto& [name, value] : settings) {
    const std::optional<std::size_t> at = space.find(name);
    if (!at) {
      const std::string nearest = nearest_name(name, names);
      detail::raise<ConfigError>(
          "there is no such tunable", name,
          nearest.empty() ? "see the problem's tunables" : "did you mean " + nearest + "?");
    }
    const Tunable& tunable = space.tunable(*at);
    const auto found = std::find_if(tunable.values.begin(), tunable.values.end(),
                                    [&wanted = value](const Value& one) { return same_value(one, wanted); });
    if (found == tunable.values.end())
      detail::raise<ConfigError>("no such value of " + name, to_string(value),
                                 "give one of " + values_text(tunable));
    config.indices[*at] = static_cast<std::uint32_t>(found - tunable.values.begin());
  }
  if (space.contains(config)) return config;
  std::string rules;
  for (const Constraint& constraint : space.constraints())
    rules += (rules.empty() ? "" : "; ") + std::string(constraint.text());
  detail::raise<ConfigError>("the settings break a constraint", space.key(config),
                             rules.empty() ? "choose others" : "keep to: " + rules);
}

}  // namespace

struct RunSession::Search {
  Search(RunStore& s, RunId r, const Problem& p, const RunPlan& how)
      : store(s), run(r), problem(p), plan(how), budget(parse_budget(how.budget)) {}
  virtual ~Search() = default;
  virtual StepReport step(const StepLimit& limit, const ToolCall& call) = 0;
  virtual std::optional<TrialId> submit(const Submission& submission, const ToolCall& call) = 0;
  virtual std::optional<Move> suggestion() { return std::nullopt; }
  virtual void decline(const std::string&, const ToolCall&) {
    detail::raise<ConfigError>("this run suggests no moves", plan.policy,
                               "only runs with the policy submit do");
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
  [[nodiscard]] Key key(const std::shared_ptr<ResultCache>& results, bool paired) const {
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
    detail::raise<ConfigError>("the run's budget of trials is spent", "0 left",
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

struct RunSession::Configs final : Search {
  Configs(RunStore& s, RunId r, AnyEvaluator evaluator, const RunPlan& how)
      : Search(s, r, evaluator.problem(), how) {
    kernel = std::make_shared<const Kernel>(problem.kernel);
    if (!budget.trials && !budget.seconds && kernel->space.count().fits_u64())
      budget.trials = kernel->space.count().low();
    trials = std::make_shared<TrialBudget>(budget.trials.value_or(TrialBudget::unlimited));
    auto policy = make_config_policy(plan.policy, {kernel->space, plan.seed, budget.trials, {}});
    const auto cache = results(evaluator);
    const OptimizerOptions how_to = options(evaluator.lanes());
    window = how_to.in_flight;
    search.emplace(std::move(policy), TemplateGenerator(kernel),
                   Judge(std::move(evaluator), key(cache, false), cache), how_to);
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

  [[nodiscard]] Clock::time_point deadline(const StepLimit& limit) const {
    double seconds = limit.seconds.value_or(std::numeric_limits<double>::infinity());
    if (budget.seconds) seconds = std::min(seconds, *budget.seconds - store.run(run).seconds);
    if (!(seconds < 1e9)) return Clock::time_point::max();
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::max(seconds, 0.0)));
  }

  std::optional<TrialId> submit(const Submission& submission, const ToolCall& call) override {
    if (submission.device || submission.host || submission.macros)
      detail::raise<ConfigError>("this run searches settings of one kernel", "code",
                                 "give settings alone, or start a run with the policy submit for kernels");
    const CoreLeft left(plan.core);
    const std::stop_callback forward(call.stop(), [this] { stop.request_stop(); });
    Config base = kernel->space.default_config();
    if (submission.parent) {
      if (!search->log().contains(*submission.parent) || !search->log().own(*submission.parent).candidate)
        detail::raise<ConfigError>("no such trial in this run", std::to_string(number(*submission.parent)),
                                   "name a trial that has settings");
      base = search->log().own(*submission.parent).candidate->config;
    }
    Config config = changed(kernel->space, std::move(base), submission.settings);
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
  std::optional<Optimizer<AnyPolicy<Config>, TemplateGenerator, Judge>> search;
};

struct RunSession::Submits final : Search {
  Submits(RunStore& s, RunId r, AnyEvaluator evaluator, const RunPlan& how)
      : Search(s, r, evaluator.problem(), how),
        root(std::make_shared<const Kernel>(problem.kernel)),
        lookup(lookup_in(store, root)) {
    trials = std::make_shared<TrialBudget>(budget.trials.value_or(TrialBudget::unlimited));
    const auto cache = results(evaluator);
    search.emplace(
        SuggestedMoves(make_move_policy(plan.suggest, plan.strategies, plan.seed, problem.backend)),
        SubmitGenerator(root), Judge(std::move(evaluator), key(cache, true), cache), options(1));
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
    if (!move) detail::raise<ConfigError>("no move is suggested", "none", "hand in a kernel of your own");
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
      detail::raise<ConfigError>("no such trial with code in this run",
                                 id ? std::to_string(number(*id)) : "none",
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
        detail::raise<ConfigError>("no move is suggested", "answers: true",
                                   "leave answers out, or call step first");
    }
    std::optional<TrialId> parent;
    const Candidate& base = parent_of(submission, answered, parent);
    Regions regions = base.kernel->regions;
    if (submission.device) regions.device = *submission.device;
    if (submission.host) regions.host = *submission.host;
    if (submission.macros) regions.macros = *submission.macros;
    Candidate candidate{base.kernel, changed(base.kernel->space, base.config, submission.settings)};
    if (!(regions == base.kernel->regions))
      candidate.kernel = std::make_shared<const Kernel>(Kernel{regions, root->space});
    else if (candidate.config == base.config)
      detail::raise<ConfigError>("the kernel is the same as its parent", std::to_string(number(*parent)),
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
  std::optional<Optimizer<SuggestedMoves, SubmitGenerator, Judge>> search;
};

RunSession::RunSession(RunStore& store, RunId run, AnyEvaluator evaluator, const RunPlan& plan) {
  if (plan.policy == "submit")
    search_ = std::make_unique<Submits>(store, run, std::move(evaluator), plan);
  else
    search_ = std::make_unique<Configs>(store, run, std::move(evaluator), plan);
}
RunSession::~RunSession() = default;
RunSession::RunSession(RunSession&&) noexcept = default;
RunSession& RunSession::operator=(RunSession&&) noexcept = default;

StepReport RunSession::step(const StepLimit& limit, const ToolCall& call) {
  return search_->step(limit, call);
}
std::optional<TrialId> RunSession::submit(const Submission& submission, const ToolCall& call) {
  return search_->submit(submission, call);
}
std::optional<Move> RunSession::suggestion() {
  return search_->suggestion();
}
void RunSession::decline(const std::string& reason, const ToolCall& call) {
  search_->decline(reason, call);
}
bool RunSession::spent() const noexcept {
  return search_->spent;
}
const Problem& RunSession::problem() const noexcept {
  return search_->problem;
}

}  // namespace kernelsearch
