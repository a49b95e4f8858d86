// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kernelsearch/policy/impl/aligned_points.hpp"

namespace kernelsearch::detail {

KERNELSEARCH_INLINE AlignedPoints::AlignedPoints(const Space& space)
    : space_(space), tables_(space.size()), places_(space.size()) {
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

KERNELSEARCH_INLINE void AlignedPoints::encode(const Config& config, std::span<double> out) const {
  for (std::size_t i = 0; i < aligned_.size(); ++i)
    out[i] = tables_[aligned_[i]][config.indices[aligned_[i]]];
}

KERNELSEARCH_INLINE double AlignedPoints::alignment(const Config& config) const {
  double sum = 0;
  for (const std::size_t t : aligned_) sum += tables_[t][config.indices[t]];
  return aligned_.empty() ? 0.0 : sum / static_cast<double>(aligned_.size());
}

KERNELSEARCH_INLINE double AlignedPoints::distance(const Config& a, const Config& b) const {
  double sum = 0;
  for (std::size_t t = 0; t < places_.size(); ++t) {
    const bool named = space_.tunable(t).kind == TunableKind::categorical;
    const double d = named ? (a.indices[t] == b.indices[t] ? 0.0 : 1.0)
                           : places_[t][a.indices[t]] - places_[t][b.indices[t]];
    sum += d * d;
  }
  return std::sqrt(sum);
}

}  // namespace kernelsearch::detail
