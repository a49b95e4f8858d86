// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kernelsearch {

/// The number of a run in its store, counted from 1.
enum class RunId : std::int64_t {};

[[nodiscard]] constexpr std::int64_t number(RunId id) noexcept {
  return static_cast<std::int64_t>(id);
}

/// What a run is told to be when it begins: all that is needed to tell it from others and to repeat it.
struct RunInfo {
  std::string name = {};            ///< chosen by the user; empty: the problem's name
  std::string problem = {};         ///< the problem's name
  std::string problem_digest = {};  ///< of its content
  std::string policy = {};
  std::string generator = {};
  std::string evaluator = {};
  std::string options = "{}";  ///< JSON object: budget, policy options, jobs, whatever repeats the run
  std::uint64_t seed = 0;
  std::string device = {};         ///< what it is measured on; results are never shared across devices
  std::string toolchain = {};      ///< compiler or driver with version and flags
  std::string environment = "{}";  ///< JSON object: operating system, clocks, load, for the record only
};

/// A run as the store knows it.
struct RunRow {
  RunId id{};
  RunInfo info;
  std::string version;                  ///< of kernelsearch
  std::string started;                  ///< UTC, ISO 8601 with milliseconds
  std::optional<std::string> finished;  ///< empty while running, or when it was killed
  std::string reason;                   ///< why it ended
  double seconds = 0.0;                 ///< wall time up to its last trial or its end, all parts together
  std::uint64_t trials = 0;
  std::optional<double> best;  ///< objective of the winner, see RunStore::best_trial
};

/// Which runs to list; empty members do not restrict.
struct RunFilter {
  std::string name = {};
  std::string problem = {};
  std::string problem_digest = {};
  std::string device = {};
  bool unfinished = false;  ///< only those that can be resumed
  std::size_t limit = 0;    ///< the newest so many; 0: all
};

}  // namespace kernelsearch
