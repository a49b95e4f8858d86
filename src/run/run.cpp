// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/winner.hpp"
#include "kernelsearch/run/observing_evaluator.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "run_impl.hpp"

namespace kernelsearch {

Run::Run(std::unique_ptr<detail::RunImpl> impl) : impl_(std::move(impl)) {}
Run::~Run() = default;
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;

Run Run::start(const Problem& problem, RunOptions options, RunParts parts) {
  return Run(detail::start_run(problem, std::move(options), std::move(parts)));
}

Run Run::start(const std::filesystem::path& problem, RunOptions options, RunParts parts) {
  parts.problem_path = problem;
  return Run(detail::start_run(read_problem(problem), std::move(options), std::move(parts)));
}

Run Run::resume(std::string_view number_or_name, RunOptions options, RunParts parts) {
  return Run(detail::resume_run(number_or_name, std::move(options), std::move(parts)));
}

detail::Call::~Call() {
  const RunTimes times = run_.messages->close();
  try {
    if (run_.id != RunId{}) run_.store->add_times(run_.id, times);
  } catch (const StoreError&) {  // where time went is not worth an error
  }
  keep_spans(true);
}

void detail::Call::keep_spans(bool now) {
  const double moment = steady_seconds();
  if (run_.id == RunId{} || (!now && moment - kept_ < 1)) return;
  kept_ = moment;
  std::vector<RunSpan> spans = run_.messages->done();
  // From the steady clock to the run's: what earlier calls took counts, and pauses do not.
  const double offset = pace_.seconds_before - begun_ - (run_.gate->seconds() - paused_before_);
  for (RunSpan& span : spans) {
    span.began = std::max(pace_.seconds_before, span.began + offset);
    span.ended = std::max(span.began, span.ended + offset);
  }
  try {
    run_.store->add_spans(run_.id, spans);
  } catch (const StoreError&) {  // as above
  }
}

namespace {

/// The folder of a run's pages; empty where none was asked for.
std::filesystem::path pages_of(const detail::RunImpl& run) {
  if (!run.report_folder.empty()) return run.report_folder;
  const std::filesystem::path& out = run.stored.options.out;
  return out.empty() ? out : out / fmt::format("run_{}", number(run.id));
}

const DevicePeaks& peaks_of(detail::RunImpl& run) {
  const std::vector<int>& devices = run.stored.options.measurement.devices;
  if (!run.peaks) run.peaks = device_peaks(run.problem, devices.empty() ? 0 : devices.front());
  return *run.peaks;
}

/// Keeps the pages of a run that goes on up to date: who watches its folder, or finds it after a kill,
/// reads of every trial.
class ProgressPages {
 public:
  explicit ProgressPages(detail::RunImpl& run) : run_(run) {}

  void on_trial(const Trial<Candidate>&) { write(); }
  void on_revised(const Trial<Candidate>&) { write(); }

 private:
  void write() {
    const std::filesystem::path pages = pages_of(run_);
    if (!run_.progress || pages.empty()) return;
    try {
      run_.progress(*run_.store, run_.id, pages, peaks_of(run_));
    } catch (const std::exception& error) {  // the store has all of it; the run is worth more than its page
      if (!run_.progress_told) run_.messages->tell(error.what());
      run_.progress_told = true;
    }
  }

  detail::RunImpl& run_;
};

}  // namespace

StepReport Run::step_told(const StepLimit& limit, RunObserver& observer) {
  detail::Call call(*impl_, observer);
  ProgressPages pages(*impl_);
  detail::RunObservers both(observer, pages, call);
  return impl_->search->step(limit, both);
}

void Run::to_end_told(RunObserver& observer) {
  detail::Call call(*impl_, observer);
  ProgressPages pages(*impl_);
  detail::RunObservers both(observer, pages, call);
  impl_->search->to_end(both);
}

std::optional<TrialId> Run::submit_told(const Submission& submission, RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  return impl_->search->submit(submission, observer);
}

std::optional<Move> Run::suggestion() {
  return impl_->search->suggestion();
}

void Run::decline_told(const std::string& reason, RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  impl_->search->decline(reason, observer);
}

namespace {

/// The trial, which must be right; ConfigError for what `verb` cannot be done with.
Trial<Candidate> right_trial(const detail::RunImpl& run, TrialId id, const char* verb) {
  Trial<Candidate> trial = run.search->measured_trial(id);
  if (!trial.outcome.ok())
    detail::raise<ConfigError>(
        fmt::format("only right kernels can be {}", verb),
        fmt::format("trial {}: {}", number(id), to_string(trial.outcome.evaluation.verdict)),
        "fix it first, or name another trial");
  return trial;
}

/// A run that was stopped once is stopped for good: it has to be resumed.
bool stopped(detail::RunImpl& run) {
  const bool asked = run.stop.stop_requested();
  run.search->spent = run.search->spent || asked;
  return asked;
}

}  // namespace

TuneReport Run::tune_told(const TuneRequest& request, RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  return impl_->search->tune(request, observer);
}

std::optional<Speedup> Run::compare_told(TrialId trial, TrialId against, RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  const Candidate candidate = *right_trial(*impl_, trial, "compared").candidate;
  const Candidate champion = *right_trial(*impl_, against, "compared").candidate;
  if (same_candidate(candidate, champion))
    detail::raise<ConfigError>("these are the same kernel with the same settings",
                               fmt::format("trials {} and {}", number(trial), number(against)),
                               "name two that differ");
  PairOptions pairs = finalist_pairs(impl_->stored.options.measurement);
  pairs.stop = impl_->stop.get_token();
  impl_->search->measuring().renew();
  std::optional<Speedup> speedup = impl_->search->measuring().compare(candidate, champion, pairs);
  if (stopped(*impl_)) return std::nullopt;
  if (!speedup || speedup->pairs == 0)
    detail::raise<ConfigError>("these trials cannot be timed in pairs", impl_->problem.name,
                               "the evaluator of this run cannot compare: go by their times");
  return speedup;
}

ProfileReport Run::profile_told(TrialId trial, RunObserver& observer) {
  const Trial<Candidate> known = right_trial(*impl_, trial, "profiled");
  ProfileReport report;
  // Made before this thread leaves the measured core, which an evaluator takes from those it may use.
  std::optional<ObservingEvaluator> observing;
  if (!impl_->foreign)
    observing = make_observing_evaluator(impl_->problem, impl_->stored.options.measurement);
  const detail::Call call(*impl_, observer);
  EvaluationContext how;
  how.trial = trial;
  how.stop = impl_->stop.get_token();
  Evaluation seen;
  if (impl_->foreign) {
    report.missing.emplace_back(
        "the evaluator of this run is its caller's own: there is nothing but what it tells of itself");
    seen = impl_->search->measuring().evaluate(*known.candidate, how);
    for (const auto& [name, value] : trait_features(impl_->problem)) seen.features.set(name, value);
  } else {
    report.missing = std::move(observing->missing);
    for (const std::string& one : report.missing) observer.on_message("not observed: " + one);
    seen = observing->evaluator.evaluate(*known.candidate, how);
  }
  report.stopped = stopped(*impl_);
  report.evaluation = known.outcome.evaluation;
  if (report.stopped) return report;
  if (seen.verdict != Verdict::ok) {
    report.evaluation = std::move(seen);
    return report;
  }
  for (const auto& [name, value] : seen.features) report.evaluation.features.set(name, value);
  impl_->search->revise(trial, report.evaluation, observer);
  return report;
}

ValidationReport Run::validate_told(TrialId trial, const std::string& tools, RunObserver& observer) {
  const Trial<Candidate> known = right_trial(*impl_, trial, "validated");
  if (impl_->foreign)
    detail::raise<ConfigError>("nothing validates the kernels of this run", impl_->problem.name,
                               "its evaluator is the caller's own, and judges alone");
  const bool gpu = is_gpu(impl_->problem.backend) && impl_->problem.backend != Backend::opencl &&
                   impl_->problem.backend != Backend::vulkan;
  if (!tools.empty() && !gpu)
    detail::raise<ConfigError>(
        "the tools of Compute Sanitizer check CUDA kernels", tools,
        "name none: kernels of a host are run with arrays between pages without access");
  const std::string names = tools.empty() && gpu ? "memcheck,racecheck,initcheck" : tools;
  auto found = impl_->validators.find(names);
  if (found == impl_->validators.end()) {
    RunOptions options = impl_->stored.options;
    options.validate = names;
    options.bounds = true;
    found = impl_->validators.emplace(names, detail::make_validator(options, impl_->problem, false, observer))
                .first;
  }
  const detail::Validation& validation = found->second;
  if (!validation.until)
    detail::raise<ConfigError>("there is no validator for this backend", to_string(impl_->problem.backend),
                               "go by the verdict");
  const detail::Call call(*impl_, observer);  // only now: validators are made on the cores that we may use
  ValidationReport report;
  report.checked = gpu ? names : "accesses beyond the arrays";
  report.objection = validation.until(*known.candidate, impl_->stop.get_token());
  report.stopped = stopped(*impl_);
  if (report.stopped) return report;
  Evaluation evaluation = known.outcome.evaluation;
  if (report.objection)
    evaluation = *report.objection;
  else
    evaluation.features.set(validation.feature, 1);
  impl_->search->revise(trial, std::move(evaluation), observer);
  return report;
}

RunResult stored_result(const RunStore& store, RunId run, const Problem& problem,
                        const std::filesystem::path& out) {
  RunResult result;
  result.run = run;
  result.row = store.run(run);
  result.reason = result.row.reason;
  if (auto best = store.best_trial(run); best && best->candidate) result.best = std::move(best);
  if (result.best) result.no_improvement = no_improvement(store, run);
  result.finalists = store.finalists(run);
  if (!result.best || out.empty()) return result;
  const WinnerFiles files = write_winner(store, run, problem, out);
  result.files = {{"source", files.source}, {"settings", files.settings}, {"record", files.record}};
  if (!files.script.empty()) result.files.emplace_back("script", files.script);
  // Among several kernels no table of settings can stand.
  const std::string& generator = result.row.info.generator;
  if (generator == "submit" || (generator != "template" && find_system(result.row.info.policy).rewrites))
    return result;
  const std::filesystem::path table = out / (file_word(problem.name) + "_table.jsonl");
  SettingsTable::append(table, best_settings(store, run, problem));
  result.files.emplace_back("table", table);
  return result;
}

RunResult Run::finish() {
  detail::RunImpl& run = *impl_;
  const RunOptions& o = run.stored.options;
  const RunStore& store = *run.store;
  RunResult result = stored_result(store, run.id, run.problem);
  // What was measured is told whatever becomes of a file.
  const auto attempt = [&result](const auto& write) {
    try {
      write();
    } catch (const std::exception& error) {
      result.unwritten.emplace_back(error.what());
    }
  };
  if (!o.out.empty()) attempt([&] { result.files = stored_result(store, run.id, run.problem, o.out).files; });
  result.stopped = run.stop.stop_requested();
  result.learned = run.search->learned();
  const detail::Listening listening(*run.messages, run.observer);
  if (!o.record.empty()) {
    if (result.row.trials == 0) {
      run.messages->tell("nothing was measured: no " + o.record.string());
    } else {
      attempt([&] {
        // For a part of the space just that part is recorded.
        const bool whole = o.where.empty() && o.configs.empty();
        const Recording recording = recording_of(store, run.id, {.space = whole ? run.stored.problem : ""});
        write_recording(recording, o.record);
        run.messages->tell(
            fmt::format("{} configurations recorded in {}", recording.trials.size(), o.record.string()));
      });
    }
  }
  const std::filesystem::path pages = pages_of(run);
  if (run.report && !pages.empty()) {
    attempt([&] {
      const std::filesystem::path page = run.report(store, run.id, pages, peaks_of(*impl_));
      result.files.emplace_back("report", page);
      run.messages->tell("report in " + page.string());
    });
  }
  if (run.watch && !run.system->outlives_model) result.no_reply = run.watch->no_reply();
  if (run.models) {
    result.models_text = run.models->text();
    result.models_json = run.models->json();
  }
  return result;
}

void Run::request_stop() {
  impl_->stop.request_stop();
}
bool Run::spent() const noexcept {
  return impl_->search->spent;
}
RunId Run::id() const noexcept {
  return impl_->id;
}
const Problem& Run::problem() const noexcept {
  return impl_->problem;
}
const RunOptions& Run::options() const noexcept {
  return impl_->stored.options;
}
const RunBudget& Run::budget() const noexcept {
  return impl_->budget;
}
RunStore& Run::store() noexcept {
  return *impl_->store;
}
const std::optional<RunRow>& Run::resumed() const noexcept {
  return impl_->resumed;
}

}  // namespace kernelsearch
