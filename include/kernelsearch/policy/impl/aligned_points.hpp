// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// Trailing zero bits of the values of integer tunables: 32, 64 and 256 behave alike on hardware whose warps,
/// sectors and vectors are powers of two, and 48 or 80 do not, which no smooth function of the value can say.
/// And first points that are far apart and well aligned.
class AlignedPoints {
 public:
  explicit AlignedPoints(const Space& space);

  /// Number of tunables whose alignment says something.
  [[nodiscard]] std::size_t size() const noexcept { return aligned_.size(); }

  /// Their alignments, each in [0, 1].
  void encode(const Config& config, std::span<double> out) const;

  /// The next first point, given those before: of some random ones that are not `taken`, the one that is
  /// farthest from them and best aligned. The space's default where all draws were taken.
  template <class Taken>
  [[nodiscard]] Config next(const std::vector<Config>& before, const Taken& taken, Rng& rng) const {
    constexpr int draws_first = 8, draws = 64;
    constexpr double alignment_weight = 0.5;
    Config best = space_.default_config(), config;
    double best_score = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < (before.empty() ? draws_first : draws); ++i) {
      space_.sample(rng, config);
      if (taken(config)) continue;
      double nearest = before.empty() ? 0.0 : std::numeric_limits<double>::infinity();
      for (const Config& other : before)
        if (const double away = distance(config, other); away < nearest) nearest = away;
      const double score = nearest + alignment_weight * alignment(config);
      if (score > best_score) {
        best_score = score;
        best = config;
      }
    }
    return best;
  }

 private:
  static constexpr double max_zeros = 6;

  [[nodiscard]] double alignment(const Config& config) const;

  /// Between places in the lists of values; 0 or 1 for names without an order.
  [[nodiscard]] double distance(const Config& a, const Config& b) const;

  Space space_;
  std::vector<std::vector<double>>
      tables_;  // tunable -> alignment of each value; empty where it says nothing
  std::vector<std::vector<double>> places_;  // tunable -> place of each value in [0, 1]
  std::vector<std::size_t> aligned_;
};

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/aligned_points_impl.hpp"
#endif
