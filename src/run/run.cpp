// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "kernelsearch/report/improvement.hpp"
#include "kernelsearch/report/winner.hpp"
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

StepReport Run::step_told(const StepLimit& limit, RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  return impl_->search->step(limit, observer);
}

void Run::to_end_told(RunObserver& observer) {
  const detail::Call call(*impl_, observer);
  impl_->search->to_end(observer);
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
  // Of several kernels no table of settings can stand.
  const std::string& generator = result.row.info.generator;
  if (generator == "submit" || (generator != "template" && find_system(result.row.info.policy).rewrites))
    return result;
  const std::filesystem::path table = out / (problem.name + "_table.jsonl");
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
        // Of a part of the space just that part is recorded.
        const bool whole = o.where.empty() && o.configs.empty();
        const Recording recording = recording_of(store, run.id, {.space = whole ? run.stored.problem : ""});
        write_recording(recording, o.record);
        run.messages->tell(
            fmt::format("{} configurations recorded in {}", recording.trials.size(), o.record.string()));
      });
    }
  }
  std::filesystem::path pages = run.report_folder;
  if (pages.empty() && !o.out.empty()) pages = o.out / fmt::format("run_{}", number(run.id));
  if (run.report && !pages.empty()) {
    attempt([&] {
      const int device = o.measurement.devices.empty() ? 0 : o.measurement.devices.front();
      const std::filesystem::path page = run.report(store, run.id, pages, device_peaks(run.problem, device));
      result.files.emplace_back("report", page);
      run.messages->tell("report in " + page.string());
    });
  }
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
