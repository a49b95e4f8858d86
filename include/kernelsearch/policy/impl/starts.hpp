// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>

#include "kernelsearch/policy/impl/ledger.hpp"

namespace kernelsearch::detail {

/// The random points that a search begins with, at first and whenever it begins afresh.
class Starts {
 public:
  explicit Starts(std::size_t points) : points_(points), left_(points) {}

  [[nodiscard]] bool pending() const noexcept { return left_ > 0; }
  /// One is drawn.
  void use() noexcept {
    if (left_ > 0) --left_;
  }
  /// One more, though all were drawn.
  void hold() noexcept { left_ = 1; }
  void begin_afresh() noexcept {
    fresh_ = true;
    left_ = points_;
  }

  /// Whether the search is to be told of an observation, whose first result this is or not: a foreign result
  /// takes the place of a random point, but a fresh start is for other places than those others know, unless
  /// theirs is the best so far.
  [[nodiscard]] bool admit(const Observation<Config>& observation, bool first, const Ledger& ledger) {
    if (!first || observation.outcome.origin) return true;
    if (fresh_ && !ledger.is_best(observation.proposal)) return false;
    use();
    return true;
  }

 private:
  std::size_t points_, left_;
  bool fresh_ = false;  ///< it has begun afresh
};

/// Counts results that do not improve a population.
class Stagnation {
 public:
  /// Notes a result; true, and forgetful, when `patience` (0: any number) in a row have not improved it.
  [[nodiscard]] bool note(double objective, std::size_t patience) noexcept {
    if (objective < best_) {
      best_ = objective;
      fruitless_ = 0;
      return false;
    }
    if (++fruitless_ < patience || patience == 0) return false;
    *this = {};
    return true;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity();  ///< of the present population
  std::size_t fruitless_ = 0;                              ///< results since it improved
};

}  // namespace kernelsearch::detail
