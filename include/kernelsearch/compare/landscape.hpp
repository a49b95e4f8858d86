// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

/// A configuration of a landscape by its key and its objective; not finite or not positive: it failed.
struct LandscapePoint {
  std::string key;
  double objective = 0.0;
};

/// What scoring needs to know of a recorded space: every configuration's objective, and how random search
/// without repetition does on it (Willemsen and others, "A methodology for comparing optimization algorithms
/// for auto-tuning", 2024, with ranks instead of values).
///
/// The N valid configurations are ranked from 0, the worst, to N - 1, the best; equals share the better rank.
class Landscape {
 public:
  /// ConfigError where nothing is valid or a key is repeated.
  Landscape(std::string name, std::vector<LandscapePoint> points);
  /// The configurations have the numbers that their trials have in the recording.
  explicit Landscape(const Recording& recording);
  Landscape(Landscape&&) noexcept = default;
  Landscape& operator=(Landscape&&) noexcept = default;
  Landscape(const Landscape&) = delete;  // its map looks into its own texts
  Landscape& operator=(const Landscape&) = delete;
  ~Landscape() = default;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Number of configurations, failed ones included.
  [[nodiscard]] std::size_t size() const noexcept { return points_.size(); }
  /// Number of configurations that did not fail.
  [[nodiscard]] std::size_t valid() const noexcept { return worst_first_.size(); }
  [[nodiscard]] double best() const noexcept { return worst_first_.back(); }
  [[nodiscard]] double median() const noexcept { return median_; }

  /// Evaluations that random search is expected to need to come within 5 % of the way from the median to the
  /// best: where the scored range ends.
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }

  [[nodiscard]] const std::string& key(std::uint32_t configuration) const {
    return points_[configuration].key;
  }
  /// Infinity where it failed.
  [[nodiscard]] double objective(std::uint32_t configuration) const {
    return points_[configuration].objective;
  }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view key) const;

  /// Expected best of random search after that many evaluations.
  [[nodiscard]] double baseline(std::uint64_t evaluations) const;
  /// The rank of an objective; anything worse than the worst, infinity too, has rank 0.
  [[nodiscard]] std::size_t rank(double objective) const;
  /// The objective at a rank below `valid()`.
  [[nodiscard]] double at_rank(std::size_t rank) const { return worst_first_[rank]; }

 private:
  std::string name_;
  std::vector<LandscapePoint> points_;
  std::unordered_map<std::string_view, std::uint32_t> number_;  ///< of a key; views into points_
  std::vector<double> worst_first_;
  double median_ = 0.0;
  std::uint64_t budget_ = 1;
};

}  // namespace kernelsearch
