// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sqlite.hpp"

#include <filesystem>

namespace kernelsearch::sqlite {

namespace {

const char* remedy(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process is writing: try again";
    case SQLITE_FULL:
      return "make room on the disk; what is stored stays, and a run can be resumed";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "check that the folder exists and that it and the file can be written, or name another file "
             "with "
             "--store";
    case SQLITE_NOTADB:
      return "name another file with --store: this one is not a kernelsearch store";
    case SQLITE_CORRUPT:
      return "the file is damaged: restore it from a copy, save what `sqlite3 FILE .recover` finds, or name "
             "another with --store";
    case SQLITE_IOERR:
      return "check the disk and the limits on the size of files; what is stored stays, and a run can be "
             "resumed";
    case SQLITE_CONSTRAINT:
      return "two processes seem to write the same run: let one finish, then resume";
    default:
      return "check that the folder exists and can be written, or name another file with --store";
  }
}

}  // namespace

void raise_last(sqlite3* database, std::string_view doing) {
  const char* const file = sqlite3_db_filename(database, "main");
  const std::string place = file != nullptr && *file != '\0' ? " (" + std::string(file) + ")" : "";
  detail::raise<StoreError>("the store failed while " + std::string(doing), sqlite3_errmsg(database) + place,
                            remedy(sqlite3_extended_errcode(database)));
}

Statement::Statement(sqlite3* database, const char* sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) raise_last(database, "preparing a statement");
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const std::string sql = sqlite3_sql(statement_.get());
  sqlite3_reset(statement_.get());
  raise_last(database_, "running " + sql.substr(0, 40));
}

std::string Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) raise_last(database_, "binding a value");
}
void Statement::bind_one(int index, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value));
}
void Statement::bind_one(int index, double value) {
  check(sqlite3_bind_double(statement_.get(), index, value));
}
void Statement::bind_one(int index, std::string_view value) {
  // An empty view may have no data, which SQLite would take for NULL.
  const char* const data = value.empty() ? "" : value.data();
  check(sqlite3_bind_text64(statement_.get(), index, data, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}
void Statement::bind_one(int index, std::nullptr_t) {
  check(sqlite3_bind_null(statement_.get(), index));
}

namespace {

/// A connection, and what opening it came to. The file may be of others: its views and triggers get no
/// functions with effects.
int connect(const std::string& name, int flags, double busy_seconds, sqlite3** database) {
  const int code = sqlite3_open_v2(name.c_str(), database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return code;
  sqlite3_busy_timeout(*database, static_cast<int>(busy_seconds * 1000.0));
  sqlite3_db_config(*database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return code;
}

/// The file as SQLite names one that nobody changes: it then makes no files next to it.
std::string unchanging(const std::string& file) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string name = "file:";
  for (const char c : file)
    if (c == '%' || c == '?' || c == '#')
      ((name += '%') += digits[static_cast<unsigned char>(c) >> 4]) += digits[c & 15];
    else
      name += c;
  return name + "?immutable=1";
}

/// Copies the main database of one connection to the other.
int copied(sqlite3* from, sqlite3* to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == nullptr) return sqlite3_errcode(to);
  (void)sqlite3_backup_step(backup, -1);
  return sqlite3_backup_finish(backup);
}

}  // namespace

Database::Database(const std::string& file, double busy_seconds) {
  sqlite3* database = nullptr;
  const int code = connect(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, busy_seconds, &database);
  database_.reset(database);
  if (code != SQLITE_OK) raise_last(database, "opening " + file);
}

Database Database::copy_of(const std::string& file, double busy_seconds) {
  sqlite3* memory = nullptr;
  const int made = connect(":memory:", SQLITE_OPEN_READWRITE, busy_seconds, &memory);
  Database copy;
  copy.database_.reset(memory);
  if (made != SQLITE_OK) raise_last(memory, "copying " + file);
  // With its log where that can be read; else, where a log would need a file next to it, as it stands.
  std::error_code error;
  const bool has_log = std::filesystem::file_size(file + "-wal", error) > 0 && !error;
  for (const bool as_it_stands : {false, true}) {
    sqlite3* from = nullptr;
    const int code =
        as_it_stands ? connect(unchanging(file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, busy_seconds, &from)
                     : connect(file, SQLITE_OPEN_READONLY, busy_seconds, &from);
    const std::unique_ptr<sqlite3, Close> source(from);
    if (code != SQLITE_OK) raise_last(from, "opening " + file);
    const int done = copied(from, memory);
    if (done == SQLITE_OK) break;
    const bool needs_a_file = (done & 0xff) == SQLITE_CANTOPEN || (done & 0xff) == SQLITE_READONLY;
    if (as_it_stands || !needs_a_file || has_log) raise_last(from, "reading " + file);
  }
  return copy;
}

void Database::execute(const char* sql) {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    raise_last(handle(), "running " + std::string(sql).substr(0, 40));
}

std::int64_t Database::scalar(const char* sql) {
  Statement statement(handle(), sql);
  const std::int64_t value = statement.step() ? statement.integer(0) : 0;
  return value;
}

Transaction::~Transaction() {
  if (done_) return;
  try {
    rollback_.bind().run();
  } catch (const StoreError&) {
    // Nothing was begun, or SQLite has rolled back by itself: either way there is nothing left to undo.
  }
}

}  // namespace kernelsearch::sqlite
