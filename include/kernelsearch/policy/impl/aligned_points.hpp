// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// Trailing zero bits of the values of integer tunables: 32, 64 and 256 behave alike on hardware whose warps,
/// sectors and vectors are powers of two, and 48 or 80 do not, which no smooth function of the value can say.
/// And first points that are far apart and well aligned.
class AlignedPoints {
 public:
  explicit AlignedPoints(const Space& space) : space_(space), tables_(space.size()), places_(space.size()) {
    for (std::size_t t = 0; t < space.size(); ++t) {
      const Tunable& tunable = space.tunable(t);
      const auto usable = space.usable(t);
      places_[t].resize(tunable.values.size());
      for (std::size_t i = 0; i < usable.size(); ++i)
        places_[t][usable[i]] =
            usable.size() > 1 ? static_cast<double>(i) / static_cast<double>(usable.size() - 1) : 0.0;
      if (tunable.kind != TunableKind::integer || usable.size() < 4) continue;
      std::vector<double> zeros(tunable.values.size());
      double low = max_zeros, high = 0;
      bool positive = true;
      for (const std::uint32_t at : usable) {
        const double value = to_number(tunable.values[at]);
        positive = positive && value > 0;
        if (!positive) break;
        zeros[at] =
            std::min(max_zeros, static_cast<double>(std::countr_zero(static_cast<std::uint64_t>(value))));
        low = std::min(low, zeros[at]);
        high = std::max(high, zeros[at]);
      }
      if (!positive || low == high) continue;
      for (double& z : zeros) z = std::max(0.0, z - low) / (high - low);
      tables_[t] = std::move(zeros);
      aligned_.push_back(t);
    }
  }

  /// Number of tunables whose alignment says something.
  [[nodiscard]] std::size_t size() const noexcept { return aligned_.size(); }

  /// Their alignments, each in [0, 1].
  void encode(const Config& config, std::span<double> out) const {
    for (std::size_t i = 0; i < aligned_.size(); ++i)
      out[i] = tables_[aligned_[i]][config.indices[aligned_[i]]];
  }

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
      for (const Config& other : before) nearest = std::min(nearest, distance(config, other));
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

  [[nodiscard]] double alignment(const Config& config) const {
    double sum = 0;
    for (const std::size_t t : aligned_) sum += tables_[t][config.indices[t]];
    return aligned_.empty() ? 0.0 : sum / static_cast<double>(aligned_.size());
  }

  /// Between places in the lists of values; 0 or 1 for names without an order.
  [[nodiscard]] double distance(const Config& a, const Config& b) const {
    double sum = 0;
    for (std::size_t t = 0; t < places_.size(); ++t) {
      const bool named = space_.tunable(t).kind == TunableKind::categorical;
      const double d = named ? (a.indices[t] == b.indices[t] ? 0.0 : 1.0)
                             : places_[t][a.indices[t]] - places_[t][b.indices[t]];
      sum += d * d;
    }
    return std::sqrt(sum);
  }

  Space space_;
  std::vector<std::vector<double>>
      tables_;  // tunable -> alignment of each value; empty where it says nothing
  std::vector<std::vector<double>> places_;  // tunable -> place of each value in [0, 1]
  std::vector<std::size_t> aligned_;
};

}  // namespace kernelsearch::detail
