// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "kernelsearch/store/run_store.hpp"
#include "sqlite.hpp"

namespace kernelsearch {

/// The connection with its prepared statements, and what is known of the runs being written.
class RunStore::Impl {
 public:
  Impl(const std::filesystem::path& path, StoreOptions options);

  /// Where the next event and trial of a run go.
  struct Position {
    std::int64_t event = 0;
    std::int64_t trial = 0;
  };

  [[nodiscard]] sqlite::Transaction transaction() { return {begin, commit, rollback}; }
  Position position_of(RunId run);
  void insert_asks(RunId run, std::span<const AskEvent> asks, Position& position);
  StoredTrial read_trial(const sqlite::Statement& row) const;
  std::vector<RunRow> read_runs(sqlite::Statement& rows) const;

  std::filesystem::path file;
  sqlite::Database database;
  std::mutex mutex;
  std::unordered_map<std::int64_t, Position> positions;
  std::unordered_set<std::string> kernels;

  sqlite::Statement begin, commit, rollback;
  sqlite::Statement insert_kernel, insert_trial, insert_event, insert_inner;
  sqlite::Statement find_result, put_result;
};

/// Now, in UTC, as 2026-01-31T12:00:00.000Z.
[[nodiscard]] std::string utc_now();

namespace detail {
/// The columns that `RunStore::Impl::read_trial` expects.
inline constexpr const char* trial_columns =
    "position, id, proposal, origin_index, origin_count, verdict, objective, progress, build_seconds, "
    "check_seconds, measure_seconds, elapsed, at, kernel, config, config_key, config_values, point, parents, "
    "reason, tuned_key, provenance, features, measurement, rationale, overrun";
}  // namespace detail

}  // namespace kernelsearch
