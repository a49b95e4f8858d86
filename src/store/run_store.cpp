// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "kernelsearch/store/json.hpp"
#include "kernelsearch/version.hpp"
#include "problem/replace_file.hpp"
#include "run_store_impl.hpp"
#include "schema.hpp"

namespace kernelsearch {
namespace {

/// Makes the folder and an empty file where there are none: their owner's alone, since prompts, replies and
/// code are kept there. SQLite gives the files next to it the same permissions.
std::filesystem::path with_folder(const std::filesystem::path& path) {
  if (const std::error_code error = detail::create_private_folders(path.parent_path()))
    detail::raise<StoreError>("cannot create the folder of the store",
                              path.parent_path().string() + " (" + error.message() + ")",
                              "name another file with --store");
  (void)detail::create_private_file(path);  // a failure shows when SQLite opens it
  return path;
}

std::optional<std::string> overrun_text(const Evaluation& evaluation) {
  return evaluation.overrun ? std::optional(to_json_text(*evaluation.overrun)) : std::nullopt;
}

/// Whether SQLite can write the file and its log next to it.
bool can_be_written(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return ::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) == 0 &&
         ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

sqlite::Database opened_database(const std::filesystem::path& path, const StoreOptions& options) {
  std::error_code error;
  if (options.only_read && !std::filesystem::exists(path, error))
    detail::raise<StoreError>("there is no store", path.string(), "name another file with --store");
  sqlite::Database opened = options.only_read && !can_be_written(path)
                                ? sqlite::Database::copy_of(path.string(), options.busy_seconds)
                                : sqlite::Database(with_folder(path).string(), options.busy_seconds);
  sqlite::open_schema(opened, options.busy_seconds);
  opened.execute(options.sync_every_trial ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  opened.execute("PRAGMA foreign_keys = ON");
  // Copying the log back waits for the disk. At SQLite's default of 1000 pages bench/store_bench
  // takes 232 us a trial, at 4000 (16 MiB of log) 121, at 16000 136.
  opened.execute("PRAGMA wal_autocheckpoint = 4000");
  if (options.only_read) opened.execute("PRAGMA query_only = ON");
  return opened;
}

/// Infinity, the objective of failures, is stored as NULL so that ORDER BY and min() mean what they say.
std::optional<double> finite_or_null(double value) {
  return value == std::numeric_limits<double>::infinity() ? std::nullopt : std::optional(value);
}

std::string parents_text(const std::vector<TrialId>& parents) {
  std::string text = "[";
  for (const TrialId parent : parents) text += (text.size() > 1 ? "," : "") + std::to_string(number(parent));
  return text + "]";
}

}  // namespace

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds % 1000);
}

RunStore::Impl::Impl(const std::filesystem::path& path, StoreOptions options)
    : file(path),
      database(opened_database(path, options)),
      begin(database.handle(), "BEGIN IMMEDIATE"),
      commit(database.handle(), "COMMIT"),
      rollback(database.handle(), "ROLLBACK"),
      insert_kernel(database.handle(), "INSERT OR IGNORE INTO kernels VALUES(?, ?, ?, ?)"),
      insert_trial(database.handle(), (std::string("INSERT INTO trials(run, ") + detail::trial_columns +
                                       ") VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
                                          .c_str()),
      insert_event(database.handle(), "INSERT INTO events VALUES(?, ?, ?, ?, ?, ?, ?)"),
      insert_inner(database.handle(), "INSERT OR REPLACE INTO inner_trials VALUES(?, ?, ?, ?, ?, ?, ?)"),
      find_result(database.handle(), "SELECT evaluation, at FROM results WHERE key = ?"),
      put_result(database.handle(), "INSERT OR REPLACE INTO results VALUES(?, ?, ?, ?)") {}

RunStore::Impl::Position RunStore::Impl::position_of(RunId run) {
  const auto known = positions.find(number(run));
  if (known != positions.end()) return known->second;
  Position position;
  sqlite::Statement query(database.handle(),
                          "SELECT (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE run = ?1),"
                          "(SELECT coalesce(max(position) + 1, 0) FROM trials WHERE run = ?1)");
  if (query.bind(number(run)).step()) position = {query.integer(0), query.integer(1)};
  return position;
}

void RunStore::Impl::insert_asks(RunId run, std::span<const AskEvent> asks, Position& position) {
  for (const AskEvent& ask : asks)
    insert_event
        .bind(number(run), position.event++, "ask", std::uint64_t{ask.wanted}, std::uint64_t{ask.returned},
              nullptr, nullptr)
        .run();
}

RunStore::RunStore(const std::filesystem::path& file, StoreOptions options)
    : impl_(std::make_unique<Impl>(file, options)) {}
RunStore::~RunStore() = default;
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;

std::filesystem::path RunStore::default_path() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string given = variable("KERNELSEARCH_STORE"); !given.empty()) return given;
  // The XDG specification tells programs to ignore relative paths.
  if (const std::filesystem::path data = variable("XDG_DATA_HOME"); data.is_absolute())
    return data / "kernelsearch" / "runs.db";
  if (const std::string home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".local" / "share" / "kernelsearch" / "runs.db";
  detail::raise<StoreError>("no place for the store",
                            "none of KERNELSEARCH_STORE, XDG_DATA_HOME, HOME is set",
                            "set one of them or name the file");
}

const std::filesystem::path& RunStore::file() const noexcept {
  return impl_->file;
}

RunId RunStore::begin_run(const RunInfo& info) {
  const std::lock_guard lock(impl_->mutex);
  const std::string name = info.name.empty() ? info.problem : info.name;
  sqlite::Statement insert(
      impl_->database.handle(),
      "INSERT INTO runs(name, problem, problem_digest, policy, generator, evaluator, options, "
      "seed, device, toolchain, environment, version, started) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert
      .bind(name, info.problem, info.problem_digest, info.policy, info.generator, info.evaluator,
            info.options, std::to_string(info.seed), info.device, info.toolchain, info.environment,
            KERNELSEARCH_VERSION, utc_now())
      .run();
  return RunId{sqlite3_last_insert_rowid(impl_->database.handle())};
}

void RunStore::continue_run(RunId run) {
  const std::lock_guard lock(impl_->mutex);
  impl_->positions.erase(number(run));
  sqlite::Statement update(impl_->database.handle(),
                           "UPDATE runs SET finished = NULL, reason = '' WHERE id = ? RETURNING id");
  if (!update.bind(number(run)).step())
    detail::raise<StoreError>("no such run in the store", std::to_string(number(run)), "list the runs");
  update.run();
}

void RunStore::end_run(RunId run, std::string_view reason, double seconds) {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement update(impl_->database.handle(),
                           "UPDATE runs SET finished = ?, reason = ?, seconds = ? WHERE id = ?");
  update.bind(utc_now(), reason, seconds, number(run)).run();
}

void RunStore::add_times(RunId run, const RunTimes& times) {
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  RunTimes all = times;
  sqlite::Statement query(impl_->database.handle(), "SELECT times FROM runs WHERE id = ?");
  if (query.bind(number(run)).step() && !query.null(0)) all += run_times_from(query.text(0));
  sqlite::Statement update(impl_->database.handle(), "UPDATE runs SET times = ? WHERE id = ?");
  update.bind(to_json_text(all), number(run)).run();
  transaction.commit();
}

void RunStore::add_spans(RunId run, std::span<const RunSpan> spans) {
  if (spans.empty()) return;
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  sqlite::Statement insert(impl_->database.handle(), "INSERT INTO spans VALUES(?, ?, ?, ?, ?, ?)");
  for (const RunSpan& span : spans) {
    std::optional<std::uint64_t> trial;
    if (span.trial) trial = number(*span.trial);
    insert.bind(number(run), span.work, span.place, trial, span.began, span.ended).run();
  }
  transaction.commit();
}

void RunStore::remove_run(RunId run) {
  const std::lock_guard lock(impl_->mutex);
  impl_->positions.erase(number(run));
  sqlite::Statement remove(impl_->database.handle(), "DELETE FROM runs WHERE id = ?");
  remove.bind(number(run)).run();
}

void RunStore::add_trial(RunId run, std::span<const AskEvent> asks, const StoredTrial& trial,
                         const std::optional<StoredKernel>& kernel) {
  // Texts are made before the lock is taken: other threads and processes wait for the writing alone.
  const Outcome& outcome = trial.outcome;
  const Evaluation& evaluation = outcome.evaluation;
  const std::string parents = parents_text(outcome.parents);
  const std::string features = to_json_text(evaluation.features);
  const std::string measurement = to_json_text(evaluation.measurement);
  const std::optional<std::string> overrun = overrun_text(evaluation);
  const std::string at = utc_now();
  std::optional<std::uint64_t> proposal, index, count;
  if (outcome.origin) {
    proposal = number(outcome.origin->proposal);
    index = outcome.origin->index;
    count = outcome.origin->count;
  }
  std::optional<std::string_view> digest, config, key, values;
  if (trial.candidate) {
    digest = trial.candidate->kernel;
    config = trial.candidate->config;
    key = trial.candidate->key;
    values = trial.candidate->values;
  }

  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  Impl::Position position = impl_->position_of(run);
  impl_->insert_asks(run, asks, position);
  const bool new_kernel = kernel && !impl_->kernels.contains(kernel->digest);
  if (new_kernel)
    impl_->insert_kernel.bind(kernel->digest, kernel->device, kernel->host, kernel->macros).run();
  impl_->insert_trial
      .bind(number(run), position.trial++, number(outcome.id), proposal, index, count,
            to_string(evaluation.verdict), finite_or_null(outcome.objective), evaluation.progress,
            evaluation.phases.build, evaluation.phases.check, evaluation.phases.measure, trial.elapsed, at,
            digest, config, key, values, trial.point, parents, evaluation.reason, evaluation.tuned_key,
            evaluation.provenance, features, measurement, outcome.rationale, overrun)
      .run();
  impl_->insert_event
      .bind(number(run), position.event++, "told", nullptr, nullptr, number(outcome.id), nullptr)
      .run();
  transaction.commit();
  impl_->positions[number(run)] = position;
  if (new_kernel) impl_->kernels.insert(kernel->digest);
}

void RunStore::add_asks(RunId run, std::span<const AskEvent> asks) {
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  Impl::Position position = impl_->position_of(run);
  impl_->insert_asks(run, asks, position);
  transaction.commit();
  impl_->positions[number(run)] = position;
}

void RunStore::add_revision(RunId run, std::span<const AskEvent> asks, const Outcome& outcome) {
  const std::optional<StoredTrial> before = trial(run, outcome.id);
  if (!before)
    detail::raise<StoreError>("revised a trial that is not in the store", std::to_string(number(outcome.id)),
                              "record its run from the start");
  const Evaluation& evaluation = outcome.evaluation;
  const std::string first = to_json_text(before->outcome);
  const std::string now = to_json_text(outcome);
  const std::string features = to_json_text(evaluation.features);
  const std::string measurement = to_json_text(evaluation.measurement);
  const std::optional<std::string> overrun = overrun_text(evaluation);

  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  Impl::Position position = impl_->position_of(run);
  impl_->insert_asks(run, asks, position);
  sqlite3* const database = impl_->database.handle();
  // What was first told stays with the event, so that the run replays as it went.
  sqlite::Statement(
      database,
      "UPDATE events SET outcome = coalesce(outcome, ?) WHERE run = ? AND kind = 'told' AND trial = ?")
      .bind(first, number(run), number(outcome.id))
      .run();
  sqlite::Statement(
      database,
      "UPDATE trials SET verdict=?, objective=?, progress=?, build_seconds=?, check_seconds=?, "
      "measure_seconds=?, reason=?, tuned_key=?, provenance=?, features=?, measurement=?, overrun=? "
      "WHERE run=? AND id=?")
      .bind(to_string(evaluation.verdict), finite_or_null(outcome.objective), evaluation.progress,
            evaluation.phases.build, evaluation.phases.check, evaluation.phases.measure, evaluation.reason,
            evaluation.tuned_key, evaluation.provenance, features, measurement, overrun, number(run),
            number(outcome.id))
      .run();
  impl_->insert_event
      .bind(number(run), position.event++, "revised", nullptr, nullptr, number(outcome.id), now)
      .run();
  transaction.commit();
  impl_->positions[number(run)] = position;
}

void RunStore::add_checkpoint_edit(RunId run, std::string_view edit) {
  const std::lock_guard lock(impl_->mutex);
  auto transaction = impl_->transaction();
  Impl::Position position = impl_->position_of(run);
  impl_->insert_event.bind(number(run), position.event++, "checkpoint", nullptr, nullptr, nullptr, edit)
      .run();
  transaction.commit();
  impl_->positions[number(run)] = position;
}

void RunStore::set_finalists(RunId run, const FinalistComparison& comparison) {
  const std::string text = to_json_text(comparison);
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement update(impl_->database.handle(),
                           "UPDATE runs SET winner = ?, winner_trials = ?, finalists = ? WHERE id = ?");
  update.bind(number(comparison.winner), comparison.trials, text, number(run)).run();
}

void RunStore::add_inner(RunId run, TrialId parent, const InnerTrial& trial) {
  const std::string text = to_json_text(trial.evaluation);
  const std::lock_guard lock(impl_->mutex);
  impl_->insert_inner
      .bind(number(run), number(parent), trial.number, trial.key, to_string(trial.evaluation.verdict),
            finite_or_null(trial.evaluation.measurement.seconds), text)
      .run();
}

void RunStore::put_result(std::string_view content_key, std::string_view device,
                          const Evaluation& evaluation) {
  const std::string text = to_json_text(evaluation);
  const std::lock_guard lock(impl_->mutex);
  impl_->put_result.bind(content_key, device, utc_now(), text).run();
}

}  // namespace kernelsearch
