// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schema.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch::sqlite {
namespace {

constexpr std::int64_t application_id = 0x6b736331;  // "ksc1"

// migrations[n] leads from version n to n + 1. Never change one that was released: add another.
constexpr const char* migrations[] = {R"sql(
CREATE TABLE runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL, problem TEXT NOT NULL, problem_digest TEXT NOT NULL,
  policy TEXT NOT NULL, generator TEXT NOT NULL, evaluator TEXT NOT NULL,
  options TEXT NOT NULL, seed TEXT NOT NULL, device TEXT NOT NULL, toolchain TEXT NOT NULL,
  environment TEXT NOT NULL, version TEXT NOT NULL,
  started TEXT NOT NULL, finished TEXT, reason TEXT NOT NULL DEFAULT '', seconds REAL);
CREATE TABLE kernels(
  digest TEXT PRIMARY KEY, device TEXT NOT NULL, host TEXT NOT NULL, macros TEXT NOT NULL);
CREATE TABLE trials(
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  position INTEGER NOT NULL, id INTEGER NOT NULL,
  proposal INTEGER, origin_index INTEGER, origin_count INTEGER,
  verdict TEXT NOT NULL, objective REAL, progress REAL NOT NULL,
  build_seconds REAL NOT NULL, check_seconds REAL NOT NULL, measure_seconds REAL NOT NULL,
  elapsed REAL NOT NULL, at TEXT NOT NULL,
  kernel TEXT, config TEXT, config_key TEXT, config_values TEXT,
  point TEXT NOT NULL, parents TEXT NOT NULL, reason TEXT NOT NULL,
  tuned_key TEXT NOT NULL, provenance TEXT NOT NULL, features TEXT NOT NULL, measurement TEXT NOT NULL,
  UNIQUE(run, position), UNIQUE(run, id));
CREATE INDEX trials_best ON trials(run, objective) WHERE verdict = 'ok';
CREATE TABLE events(
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL, kind TEXT NOT NULL,
  wanted INTEGER, returned INTEGER, trial INTEGER, outcome TEXT,
  PRIMARY KEY(run, seq)) WITHOUT ROWID;
CREATE TABLE inner_trials(
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  parent INTEGER NOT NULL, number INTEGER NOT NULL,
  key TEXT NOT NULL, verdict TEXT NOT NULL, seconds REAL, evaluation TEXT NOT NULL,
  PRIMARY KEY(run, parent, number));
CREATE TABLE results(
  key TEXT PRIMARY KEY, device TEXT NOT NULL, at TEXT NOT NULL, evaluation TEXT NOT NULL);
)sql",
                                      R"sql(
ALTER TABLE runs ADD COLUMN winner INTEGER;
ALTER TABLE runs ADD COLUMN winner_trials INTEGER;
ALTER TABLE runs ADD COLUMN finalists TEXT;
)sql",
                                      R"sql(
CREATE TABLE changes(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE, problem TEXT NOT NULL, backend TEXT NOT NULL, content TEXT NOT NULL);
ALTER TABLE trials ADD COLUMN rationale TEXT NOT NULL DEFAULT '';
)sql",
                                      // Events may be of the kind `checkpoint`, which earlier versions would
                                      // take for a revision.
                                      "SELECT 1", "ALTER TABLE runs ADD COLUMN times TEXT",
                                      R"sql(
CREATE TABLE spans(
  run INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  work TEXT NOT NULL, place TEXT NOT NULL, trial INTEGER, began REAL NOT NULL, ended REAL NOT NULL);
CREATE INDEX spans_of_run ON spans(run);
)sql",
                                      // Earlier versions said it in words alone: where is in the reason only.
                                      R"sql(
ALTER TABLE trials ADD COLUMN overrun TEXT;
UPDATE trials SET overrun = '{}'
  WHERE verdict = 'cheated' AND reason LIKE 'it wrote outside of its array%';
UPDATE results SET evaluation = json_set(evaluation, '$.overrun', json('{}'))
  WHERE CASE WHEN json_valid(evaluation) THEN json_extract(evaluation, '$.verdict') = 'cheated'
    AND json_extract(evaluation, '$.reason') LIKE 'it wrote outside of its array%' END;
UPDATE inner_trials SET evaluation = json_set(evaluation, '$.overrun', json('{}'))
  WHERE CASE WHEN json_valid(evaluation) THEN json_extract(evaluation, '$.verdict') = 'cheated'
    AND json_extract(evaluation, '$.reason') LIKE 'it wrote outside of its array%' END;
UPDATE events SET outcome = json_set(outcome, '$.evaluation.overrun', json('{}'))
  WHERE CASE WHEN json_valid(outcome) THEN json_extract(outcome, '$.evaluation.verdict') = 'cheated'
    AND json_extract(outcome, '$.evaluation.reason') LIKE 'it wrote outside of its array%' END;
UPDATE changes SET content = json_set(content, '$.overrun', json('{}'))
  WHERE CASE WHEN json_valid(content) THEN json_extract(content, '$.verdict') = 'cheated'
    AND json_extract(content, '$.reason') LIKE 'it wrote outside of its array%' END;
)sql"};
static_assert(std::size(migrations) == RunStore::schema_version);

void enter_wal_mode(Database& database, double busy_seconds) {
  // Changing the mode does not wait for other processes by itself, so two that start at once would collide.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(busy_seconds);
  for (;;) {
    try {
      Statement mode(database.handle(), "PRAGMA journal_mode = WAL");
      if (mode.step() && mode.text(0) != "wal" && mode.text(0) != "memory")
        detail::raise<StoreError>("the store cannot be shared by processes", "journal mode " + mode.text(0),
                                  "put the file on a local disk");
      return;
    } catch (const StoreError&) {
      if ((sqlite3_errcode(database.handle()) & 0xff) != SQLITE_BUSY ||
          std::chrono::steady_clock::now() > deadline)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

/// The version of the schema in the file, 0 where nothing has been created; a StoreError for a file that is
/// of another program or newer than this library. Its reads belong together: the caller has begun a
/// transaction, or another process may create the store between them.
std::int64_t known_version(Database& database) {
  const std::int64_t application = database.scalar("PRAGMA application_id");
  const bool empty = database.scalar("SELECT count(*) FROM sqlite_schema") == 0;
  if (application != application_id && !(application == 0 && empty))
    detail::raise<StoreError>("not a kernelsearch store", "a database of another program",
                              "name another file with --store");
  const std::int64_t version = database.scalar("PRAGMA user_version");
  if (version > RunStore::schema_version)
    detail::raise<StoreError>(
        "the store was written by a newer kernelsearch",
        "schema " + std::to_string(version) + ", known up to " + std::to_string(RunStore::schema_version),
        "update kernelsearch or name another file with --store");
  return version;
}

}  // namespace

void open_schema(Database& database, double busy_seconds) {
  Statement read(database.handle(), "BEGIN");
  Statement write(database.handle(), "BEGIN IMMEDIATE");
  Statement commit(database.handle(), "COMMIT");
  Statement rollback(database.handle(), "ROLLBACK");
  const auto current = [&] {
    Transaction transaction(read, commit, rollback);
    const bool is = known_version(database) == RunStore::schema_version;
    transaction.commit();
    return is;
  };
  // Most opened stores are complete, and reading that takes no lock from processes that write.
  if (!current()) {
    Transaction transaction(write, commit, rollback);
    // Asked again: other processes may have created or migrated it while this one waited for the lock.
    const std::int64_t version = known_version(database);
    for (std::int64_t v = version; v < RunStore::schema_version; ++v) database.execute(migrations[v]);
    if (version < RunStore::schema_version) {
      database.execute(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
      database.execute(("PRAGMA user_version = " + std::to_string(RunStore::schema_version)).c_str());
    }
    transaction.commit();
  }
  // Last, so that a file of another program stays as it was. SQLite changes it outside of transactions only.
  enter_wal_mode(database, busy_seconds);
}

}  // namespace kernelsearch::sqlite
