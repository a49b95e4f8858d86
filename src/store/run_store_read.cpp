// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/device_identity.hpp"
#include "kernelsearch/store/json.hpp"
#include "run_store_impl.hpp"

namespace kernelsearch {
namespace {

// For a row of `runs` the trial that the comparison of finalists chose, where it still stands.
#define KERNELSEARCH_WINNER                                                                             \
  "(SELECT w.id FROM trials w WHERE w.run = runs.id AND w.id = runs.winner AND w.verdict = 'ok' AND "   \
  "w.objective IS NOT NULL AND NOT EXISTS (SELECT 1 FROM trials l WHERE l.run = runs.id AND l.verdict " \
  "= 'ok' AND l.position >= runs.winner_trials AND l.objective < w.objective))"

constexpr const char* run_query =
    "SELECT id, name, problem, problem_digest, policy, generator, evaluator, options, seed, device, "
    "toolchain, "
    "environment, version, started, finished, reason, "
    "coalesce(seconds, (SELECT max(elapsed) FROM trials WHERE run = runs.id), 0), "
    // As is_trial: an outage, which the feature says, does not count.
    "(SELECT count(*) FROM trials WHERE run = runs.id AND verdict <> 'not_applicable' AND NOT (verdict = "
    "'not_generated' AND instr(features, '\"unanswered\"') > 0)), "
    "(SELECT objective FROM trials WHERE run = runs.id AND id = coalesce(" KERNELSEARCH_WINNER
    ", (SELECT id FROM trials WHERE run = runs.id AND verdict = 'ok' AND objective IS NOT NULL "
    "ORDER BY objective, position LIMIT 1))) FROM runs ";

std::uint64_t unsigned_from(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<TrialId> parents_from(const std::string& text) {
  const nlohmann::json list = parse_json(text, "the list of parents");
  std::vector<TrialId> parents;
  for (const auto& parent : list) {
    if (!list.is_array() || !parent.is_number_unsigned())
      detail::raise<StoreError>("malformed list of parents in the store", text.substr(0, 80),
                                "the file is damaged");
    parents.push_back(TrialId{parent.get<std::uint64_t>()});
  }
  return parents;
}

}  // namespace

StoredTrial RunStore::Impl::read_trial(const sqlite::Statement& row) const {
  StoredTrial trial;
  Outcome& outcome = trial.outcome;
  Evaluation& evaluation = outcome.evaluation;
  int column = 0;
  trial.position = static_cast<std::uint64_t>(row.integer(column++));
  outcome.id = TrialId{static_cast<std::uint64_t>(row.integer(column++))};
  if (!row.null(column))
    outcome.origin = Origin{ProposalId{static_cast<std::uint64_t>(row.integer(column))},
                            static_cast<std::uint32_t>(row.integer(column + 1)),
                            static_cast<std::uint32_t>(row.integer(column + 2))};
  column += 3;
  const std::string verdict = row.text(column++);
  const auto known = verdict_from(verdict);
  if (!known) detail::raise<StoreError>("unknown verdict in the store", verdict, "the file is damaged");
  evaluation.verdict = *known;
  if (!row.null(column)) outcome.objective = row.real(column);
  ++column;
  evaluation.progress = row.real(column++);
  evaluation.phases.build = row.real(column++);
  evaluation.phases.check = row.real(column++);
  evaluation.phases.measure = row.real(column++);
  trial.elapsed = row.real(column++);
  trial.at = row.text(column++);
  if (!row.null(column)) {
    const std::string kernel = row.text(column);
    trial.candidate =
        StoredCandidate{kernel, row.text(column + 1), row.text(column + 2), row.text(column + 3)};
  }
  column += 4;
  trial.point = row.text(column++);
  outcome.parents = parents_from(row.text(column++));
  evaluation.reason = row.text(column++);
  evaluation.tuned_key = row.text(column++);
  evaluation.provenance = row.text(column++);
  evaluation.features = from_json_text<Features>(row.text(column++));
  evaluation.measurement = from_json_text<Measurement>(row.text(column++));
  outcome.rationale = row.text(column++);
  if (!row.null(column)) evaluation.overrun = from_json_text<Overrun>(row.text(column));
  return trial;
}

std::vector<RunRow> RunStore::Impl::read_runs(sqlite::Statement& rows) const {
  std::vector<RunRow> runs;
  while (rows.step()) {
    RunRow run;
    run.id = RunId{rows.integer(0)};
    run.info = {rows.text(1), rows.text(2),  rows.text(3), rows.text(4),
                rows.text(5), rows.text(6),  rows.text(7), unsigned_from(rows.text(8)),
                rows.text(9), rows.text(10), rows.text(11)};
    run.version = rows.text(12);
    run.started = rows.text(13);
    if (!rows.null(14)) run.finished = rows.text(14);
    run.reason = rows.text(15);
    run.seconds = rows.real(16);
    run.trials = static_cast<std::uint64_t>(rows.integer(17));
    if (!rows.null(18)) run.best = rows.real(18);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::vector<RunRow> RunStore::runs(const RunFilter& filter) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(
      impl_->database.handle(),
      (std::string(run_query) + "WHERE (?1 = '' OR name = ?1) AND (?2 = '' OR problem = ?2) AND (?3 = '' OR "
                                "problem_digest = ?3) AND (?4 = 0 OR finished IS NULL) "
                                "ORDER BY id DESC LIMIT ?5")
          .c_str());
  // Which spellings are one device, SQL cannot tell.
  const bool all = filter.limit == 0 || !filter.device.empty();
  query.bind(filter.name, filter.problem, filter.problem_digest, static_cast<std::int64_t>(filter.unfinished),
             all ? -1 : static_cast<std::int64_t>(filter.limit));
  std::vector<RunRow> found = impl_->read_runs(query);
  if (filter.device.empty()) return found;
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const RunRow& row) { return !same_device(row.info.device, filter.device); }),
              found.end());
  if (filter.limit != 0 && found.size() > filter.limit)
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(filter.limit), found.end());
  return found;
}

RunRow RunStore::run(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(), (std::string(run_query) + "WHERE id = ?").c_str());
  std::vector<RunRow> found = impl_->read_runs(query.bind(number(run)));
  if (found.empty())
    detail::raise<StoreError>("no such run in the store", std::to_string(number(run)), "list the runs");
  return std::move(found.front());
}

std::optional<RunRow> RunStore::find_run(std::string_view number_or_name) const {
  const std::lock_guard lock(impl_->mutex);
  const bool is_number =
      !number_or_name.empty() && number_or_name.find_first_not_of("0123456789") == std::string_view::npos;
  const char* const where = number_or_name == "latest" ? "WHERE ?1 = 'latest' ORDER BY id DESC LIMIT 1"
                            : is_number                ? "WHERE id = CAST(?1 AS INTEGER)"
                                                       : "WHERE name = ?1 ORDER BY id DESC LIMIT 1";
  sqlite::Statement query(impl_->database.handle(), (std::string(run_query) + where).c_str());
  std::vector<RunRow> found = impl_->read_runs(query.bind(number_or_name));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<StoredTrial> RunStore::trials(RunId run) const {
  std::vector<StoredTrial> trials;
  each_trial(run, [&](const StoredTrial& trial) { trials.push_back(trial); });
  return trials;
}

void RunStore::each_trial(RunId run, const std::function<void(const StoredTrial&)>& use) const {
  // A page at a time: a long run need not fit into memory, and `use` may call the store.
  constexpr std::int64_t page_size = 256;
  std::int64_t next = 0;
  for (bool more = true; more;) {
    std::vector<StoredTrial> page;
    {
      const std::lock_guard lock(impl_->mutex);
      sqlite::Statement query(impl_->database.handle(),
                              (std::string("SELECT ") + detail::trial_columns +
                               " FROM trials WHERE run = ? AND position >= ? ORDER BY position LIMIT ?")
                                  .c_str());
      query.bind(number(run), next, page_size);
      while (query.step()) page.push_back(impl_->read_trial(query));
    }
    for (const StoredTrial& trial : page) use(trial);
    more = page.size() == page_size;
    if (more) next = static_cast<std::int64_t>(page.back().position) + 1;
  }
}

std::optional<StoredTrial> RunStore::trial(RunId run, TrialId id) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(
      impl_->database.handle(),
      (std::string("SELECT ") + detail::trial_columns + " FROM trials WHERE run = ? AND id = ?").c_str());
  if (!query.bind(number(run), number(id)).step()) return std::nullopt;
  return impl_->read_trial(query);
}

std::optional<StoredTrial> RunStore::best_trial(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(),
                          (std::string("SELECT ") + detail::trial_columns +
                           " FROM trials WHERE run = ?1 AND verdict = 'ok' AND objective IS NOT NULL "
                           "ORDER BY id IS NOT (SELECT " KERNELSEARCH_WINNER
                           " FROM runs WHERE runs.id = ?1), objective, position LIMIT 1")
                              .c_str());
  if (!query.bind(number(run)).step()) return std::nullopt;
  return impl_->read_trial(query);
}

std::optional<FinalistComparison> RunStore::finalists(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(), "SELECT finalists FROM runs WHERE id = ?");
  if (!query.bind(number(run)).step() || query.null(0)) return std::nullopt;
  return from_json_text<FinalistComparison>(query.text(0));
}

std::optional<RunTimes> RunStore::times(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(), "SELECT times FROM runs WHERE id = ?");
  if (!query.bind(number(run)).step() || query.null(0)) return std::nullopt;
  return run_times_from(query.text(0));
}

std::vector<RunSpan> RunStore::spans(RunId run, std::size_t most) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(),
                          "SELECT work, place, trial, began, ended FROM (SELECT * FROM spans WHERE run = ? "
                          "ORDER BY ended - began DESC LIMIT ?) ORDER BY began");
  const auto limit = std::min<std::uint64_t>(most, std::numeric_limits<std::int64_t>::max());
  query.bind(number(run), limit);
  std::vector<RunSpan> spans;
  while (query.step()) {
    RunSpan span{query.text(0), query.text(1), {}, query.real(3), query.real(4)};
    if (!query.null(2)) span.trial = TrialId{static_cast<std::uint64_t>(query.integer(2))};
    spans.push_back(std::move(span));
  }
  return spans;
}

std::vector<StoredInnerTrial> RunStore::inner_trials(RunId run, std::optional<TrialId> parent) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(
      impl_->database.handle(),
      "SELECT parent, number, key, evaluation FROM inner_trials WHERE run = ?1 AND (?2 IS NULL "
      "OR parent = ?2) ORDER BY parent, number");
  query.bind(number(run), parent ? std::optional(number(*parent)) : std::nullopt);
  std::vector<StoredInnerTrial> trials;
  while (query.step())
    trials.push_back({TrialId{static_cast<std::uint64_t>(query.integer(0))},
                      {static_cast<std::uint64_t>(query.integer(1)), query.text(2),
                       from_json_text<Evaluation>(query.text(3))}});
  return trials;
}

std::vector<StoredTuning> RunStore::earlier_tunings(RunId run, const StoredKernel& text,
                                                    std::size_t limit) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(
      impl_->database.handle(),
      "SELECT o.device, r.device, t.run, t.id, t.kernel, t.config, t.config_key, t.config_values "
      "FROM runs o JOIN runs r ON r.problem_digest = o.problem_digest AND r.toolchain = o.toolchain AND "
      "r.id <> o.id JOIN trials t ON t.run = r.id JOIN kernels k ON k.digest = t.kernel "
      "WHERE o.id = ?1 AND t.at <= o.started AND k.device = ?2 AND k.host = ?3 AND k.macros = ?4 AND "
      "EXISTS(SELECT 1 FROM inner_trials i WHERE i.run = t.run AND i.parent = t.id) "
      "ORDER BY t.run DESC, t.position DESC");
  query.bind(number(run), text.device, text.host, text.macros);
  std::vector<StoredTuning> tunings;
  while (tunings.size() < limit && query.step()) {
    if (!same_device(query.text(0), query.text(1))) continue;  // which spellings are one, SQL cannot tell
    StoredTuning tuning;
    tuning.candidate = {query.text(4), query.text(5), query.text(6), query.text(7)};
    sqlite::Statement points(
        impl_->database.handle(),
        "SELECT key, verdict, seconds FROM inner_trials WHERE run = ? AND parent = ? ORDER BY number");
    points.bind(query.integer(2), query.integer(3));
    while (points.step()) {
      const std::string verdict = points.text(1);
      const auto known = verdict_from(verdict);
      if (!known) detail::raise<StoreError>("unknown verdict in the store", verdict, "the file is damaged");
      tuning.points.push_back({points.text(0), *known, points.null(2) ? 0.0 : points.real(2)});
    }
    tunings.push_back(std::move(tuning));
  }
  return tunings;
}

std::vector<StoredEvent> RunStore::events(RunId run) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(
      impl_->database.handle(),
      "SELECT kind, wanted, returned, trial, outcome FROM events WHERE run = ? ORDER BY seq");
  query.bind(number(run));
  std::vector<StoredEvent> events;
  while (query.step()) {
    const std::string kind = query.text(0);
    const TrialId trial{static_cast<std::uint64_t>(query.integer(3))};
    if (kind == "ask")
      events.emplace_back(
          AskEvent{static_cast<std::size_t>(query.integer(1)), static_cast<std::size_t>(query.integer(2))});
    else if (kind == "told")
      events.emplace_back(StoredTold{
          trial, query.null(4) ? std::nullopt : std::optional(from_json_text<Outcome>(query.text(4)))});
    else if (kind == "checkpoint")
      events.emplace_back(StoredCheckpointEdit{query.text(4)});
    else
      events.emplace_back(StoredRevision{trial, from_json_text<Outcome>(query.text(4))});
  }
  return events;
}

std::optional<StoredKernel> RunStore::kernel(std::string_view digest) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Statement query(impl_->database.handle(),
                          "SELECT device, host, macros FROM kernels WHERE digest = ?");
  if (!query.bind(digest).step()) return std::nullopt;
  return StoredKernel{std::string(digest), query.text(0), query.text(1), query.text(2)};
}

std::optional<StoredResult> RunStore::find_result(std::string_view content_key) const {
  std::string text, at;
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->find_result.bind(content_key).step()) {
      impl_->find_result.reset();
      return std::nullopt;
    }
    text = impl_->find_result.text(0);
    at = impl_->find_result.text(1);
    impl_->find_result.reset();
  }
  return StoredResult{from_json_text<Evaluation>(text), at};
}

}  // namespace kernelsearch
