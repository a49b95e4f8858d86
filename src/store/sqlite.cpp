// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sqlite.hpp"

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
      return "check that the folder exists and that it and the file can be written, or name another file";
    case SQLITE_NOTADB:
      return "name another file: this one is no kernelsearch store";
    case SQLITE_CORRUPT:
      return "the file is damaged: restore it from a copy, save what `sqlite3 FILE .recover` finds, or name "
             "another";
    case SQLITE_IOERR:
      return "check the disk and the limits on the size of files; what is stored stays, and a run can be "
             "resumed";
    case SQLITE_CONSTRAINT:
      return "two processes seem to write the same run: let one finish, then resume";
    default:
      return "check that the folder exists and can be written";
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

Database::Database(const std::string& file, double busy_seconds) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &database,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  if (code != SQLITE_OK) raise_last(database, "opening " + file);
  sqlite3_busy_timeout(database, static_cast<int>(busy_seconds * 1000.0));
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
