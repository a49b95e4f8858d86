// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/store/store_error.hpp"

/// The few parts of SQLite that the store needs, with errors as StoreError.
namespace kernelsearch::sqlite {

[[noreturn]] void raise_last(sqlite3* database, std::string_view doing);

/// A prepared statement. Bind all parameters in order, then step.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql);

  /// Binds the parameters from the first on. Texts must outlive the stepping.
  template <class... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(statement_.get());
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }

  /// True while there is a row.
  bool step();
  /// Steps to the end of a statement that returns nothing.
  void run() {
    while (step()) {
    }
    sqlite3_reset(statement_.get());
  }
  void reset() { sqlite3_reset(statement_.get()); }

  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

 private:
  void bind_one(int index, std::int64_t value);
  void bind_one(int index, std::uint64_t value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, std::uint32_t value) { bind_one(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, std::nullptr_t);
  template <class T>
  void bind_one(int index, const std::optional<T>& value) {
    value ? bind_one(index, *value) : bind_one(index, nullptr);
  }
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// A connection; one thread at a time.
class Database {
 public:
  Database(const std::string& file, double busy_seconds);
  /// What the file holds now, in memory: neither the file nor its folder has to be writable.
  static Database copy_of(const std::string& file, double busy_seconds);
  void execute(const char* sql);
  [[nodiscard]] std::int64_t scalar(const char* sql);
  [[nodiscard]] sqlite3* handle() const noexcept { return database_.get(); }

 private:
  Database() = default;

  struct Close {
    void operator()(sqlite3* database) const noexcept { sqlite3_close_v2(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Begins with the statement given and rolls back unless committed. Writers begin with BEGIN IMMEDIATE, which
/// takes the write lock at once: so two of them queue up instead of failing halfway.
class Transaction {
 public:
  Transaction(Statement& begin, Statement& commit, Statement& rollback)
      : commit_(commit), rollback_(rollback) {
    begin.bind().run();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit() {
    commit_.bind().run();
    done_ = true;
  }

 private:
  Statement& commit_;
  Statement& rollback_;
  bool done_ = false;
};

}  // namespace kernelsearch::sqlite
