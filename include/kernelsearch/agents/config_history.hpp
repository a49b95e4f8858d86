// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// How much of a history a model is shown. The numbers are Helion's (llm_search.py) but where they are ours.
struct ConfigHistoryOptions {
  std::size_t anchors = 2;   ///< the best, with their distance to the best
  std::size_t results = 12;  ///< the fastest that are listed
  std::size_t patterns = 5;  ///< the fastest of which it is said what they share
  std::size_t failures = 4;  ///< kinds of failures that are shown, one configuration of each
  std::size_t table = 300;   ///< rows of the table of all that was measured; 0: no table; ours
  double unit = 1e3;         ///< objectives are multiplied by it: 1e3 shows seconds as `unit_name` ms
  std::string unit_name = "ms";
};

/// What was measured, told to a model in a few lines: configurations as differences from the default, so that
/// they cost few tokens.
class ConfigHistory {
 public:
  explicit ConfigHistory(Space space) : space_(std::move(space)) {}

  /// Takes an outcome in; one of a known configuration replaces what was known of it.
  void tell(const Observation<Config>& observation);

  [[nodiscard]] bool contains(const Config& config) const { return at_.contains(config); }
  [[nodiscard]] std::size_t size() const noexcept { return results_.size(); }
  /// Infinity before the first success.
  [[nodiscard]] double best() const noexcept;
  /// The share of failures among all, 0 to 1.
  [[nodiscard]] double failed_share() const noexcept;

  /// State of the search, anchors, fastest results, patterns of the best, failures, and a table of all that
  /// was measured, so that a model can tell what is new; nothing is said of what is not there.
  [[nodiscard]] std::string text(const ConfigHistoryOptions& options = {}) const;

 private:
  struct Result {
    Config config;
    bool ok = false;
    double objective = 0.0;
    Verdict verdict = Verdict::ok;
    std::string reason;
    std::optional<Overrun> overrun;
  };
  [[nodiscard]] std::vector<const Result*> ranked() const;
  [[nodiscard]] std::string patterns_text(std::span<const Result* const> best) const;
  [[nodiscard]] std::string failures_text(std::size_t most) const;
  [[nodiscard]] std::string table_text(std::span<const Result* const> right,
                                       const ConfigHistoryOptions& options) const;

  Space space_;
  std::vector<Result> results_;  ///< in the order in which they became known
  std::unordered_map<Config, std::size_t> at_;
};

}  // namespace kernelsearch
