// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/overrun.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// What a change did to the time of a right kernel: its parent's time divided by its own.
struct ChangeEffect {
  double ratio = 0.0;
  Interval interval;
  bool paired = false;  ///< timed next to its parent; else two times, each measured on its own
  friend bool operator==(const ChangeEffect&, const ChangeEffect&) = default;

  [[nodiscard]] bool faster() const noexcept { return interval.low > 1; }
  [[nodiscard]] bool slower() const noexcept { return interval.high < 1; }
};

/// What one change of a kernel taught, accepted or refused: all that later runs need to know of it.
struct RememberedChange {
  std::string id;  ///< 64 hexadecimal digits; the same wherever it is imported
  std::string at;  ///< UTC, when the trial was told
  std::string problem;
  std::string problem_digest;
  std::string backend;
  std::vector<std::string> traits;  ///< what kind of work the problem is
  std::string device;
  std::string toolchain;
  std::string system;                   ///< the system or policy of the run
  MoveKind kind = MoveKind::rewrite;    ///< what was asked
  std::vector<std::string> strategies;  ///< strategies, methods or transformations; none: the model's choice
  std::string prompt;                   ///< the template that it was asked with; empty: no model was asked
  std::string prompt_version;           ///< its hash
  std::string model;                    ///< as the provider names it
  std::string limiter;   ///< what the parent was limited by, as `Bound` is written; empty: not known
  std::string diff;      ///< from the parent's text to the child's; empty where nothing came of it
  std::string settings;  ///< `NAME: OLD -> NEW` of tunables, a line each
  Verdict verdict = Verdict::ok;
  double progress = 1.0;               ///< how far a failure came, see graded_progress
  std::string reason;                  ///< why it failed, its first lines
  std::optional<Overrun> overrun;      ///< where it wrote outside of its arrays, if that is why
  std::optional<ChangeEffect> effect;  ///< where parent and child were right and timed
  std::string parent_kernel;           ///< digests
  std::string kernel;
  friend bool operator==(const RememberedChange&, const RememberedChange&) = default;
};

/// A change as a store numbers it; numbers are of that store and are never used again.
struct StoredChange {
  std::int64_t number = 0;
  RememberedChange change;
};

/// Which changes; empty members do not restrict.
struct ChangeFilter {
  std::string problem = {};
  std::string strategy = {};
  std::string trait = {};
  std::string device = {};  ///< by `same_device`
  std::string backend = {};
  std::int64_t until = 0;  ///< numbers up to this one; 0: all
  std::size_t limit = 0;   ///< the newest so many; 0: all
};

/// The longest texts that are kept and read: a file from elsewhere must not fill a store or a prompt.
struct ChangeLimits {
  static constexpr std::size_t name = 256;
  static constexpr std::size_t names = 32;
  static constexpr std::size_t reason = 2000;
  static constexpr std::size_t diff = 16384;
  static constexpr std::size_t line = std::size_t{1} << 18;  ///< of a file
};

/// One line of JSON (docs/memory.md).
[[nodiscard]] std::string change_text(const RememberedChange& change);

/// The change that `change_text` wrote, in any process. ConfigError for what the format does not allow.
[[nodiscard]] RememberedChange change_from_text(std::string_view text);

/// All lines of a file; blank ones are skipped. ConfigError with `name` and the line for one that cannot be
/// read.
[[nodiscard]] std::vector<RememberedChange> read_changes(std::istream& in, const std::string& name);

}  // namespace kernelsearch
