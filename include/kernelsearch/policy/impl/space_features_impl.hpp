// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <variant>

#include "kernelsearch/policy/impl/space_features.hpp"

namespace kernelsearch::detail {
namespace space_features {

// From the ablations in docs/benchmarks.md; the same for every space.
inline constexpr LengthPrior base_length = {0.2, 0.6};
inline constexpr LengthPrior alignment_length = {0.5, 0.6};
inline constexpr LengthPrior different_length = {0.7, 1.0};

/// Trailing zero bits up to 6: beyond 64 alignment is no better.
inline int trailing_zeros(double value) {
  return std::min(std::countr_zero(static_cast<std::uint64_t>(value)), 6);
}

/// Moves `values` to [0, 1]; false where they are all equal.
inline bool stretch(std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double from = *low, width = *high - *low;
  if (!(width > 0)) return false;
  for (double& value : values) value = (value - from) / width;
  return true;
}

}  // namespace space_features

KERNELSEARCH_INLINE SpaceFeatures::SpaceFeatures(const Space& space) {
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space.usable(i).size() > 1) columns_.push_back(make_column(space, i));
}

/// One feature a value, so scaled that two different values are at distance 1.
KERNELSEARCH_INLINE void SpaceFeatures::add_different(Column& column, std::size_t values, LengthPrior prior) {
  std::vector<float> wider(values * (column.width + values), 0.0F);
  for (std::size_t v = 0; v < values; ++v) {
    float* to = &wider[v * (column.width + values)];
    std::copy_n(column.features.begin() + static_cast<std::ptrdiff_t>(v * column.width), column.width, to);
    to[column.width + v] = std::sqrt(0.5F);
  }
  column.features = std::move(wider);
  column.width += values;
  length_of_.insert(length_of_.end(), values, lengths_.size());
  lengths_.push_back(prior);
}

KERNELSEARCH_INLINE SpaceFeatures::Column SpaceFeatures::make_column(const Space& space,
                                                                     std::size_t tunable) {
  using namespace space_features;
  const Tunable& t = space.tunable(tunable);
  const std::size_t n = t.values.size();
  const auto usable = space.usable(tunable);
  Column column{tunable, 0, {}, std::vector<double>(n, 0.0)};
  const bool named = t.kind == TunableKind::categorical || t.kind == TunableKind::permutation;
  std::vector<double> values(n);
  for (std::size_t v = 0; v < n; ++v) values[v] = named ? static_cast<double>(v) : to_number(t.values[v]);
  double low = values[usable.front()], high = low;
  bool whole = true, powers = true;
  for (const std::uint32_t v : usable) {
    low = std::min(low, values[v]);
    high = std::max(high, values[v]);
    whole = whole && values[v] == std::floor(values[v]) && std::abs(values[v]) < 1e15;
    powers = powers && values[v] > 0 && whole && std::has_single_bit(static_cast<std::uint64_t>(values[v]));
  }

  const bool logarithmic = low > 0 && high >= 3 * low;
  const auto scaled = [&](double value) {
    const double at =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return std::clamp(at, 0.0, 1.0);  // values that no configuration has may lie outside
  };
  std::vector<std::size_t> order(usable.begin(), usable.end());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double rank = static_cast<double>(k) / static_cast<double>(order.size() - 1);
    column.place[order[k]] = named ? rank : 0.5 * (rank + scaled(values[order[k]]));
  }

  if (named && usable.size() > 2) {
    add_different(column, n, base_length);
    return column;
  }
  for (std::size_t v = 0; v < n; ++v) column.features.push_back(static_cast<float>(scaled(values[v])));
  column.width = 1;
  length_of_.push_back(lengths_.size());
  lengths_.push_back(base_length);
  if (whole && low > 0 && !powers && usable.size() >= 4) {
    std::vector<double> alignment(n);
    for (std::size_t v = 0; v < n; ++v) alignment[v] = values[v] > 0 ? trailing_zeros(values[v]) : 0;
    if (stretch(alignment)) {
      std::vector<float> wider;
      for (std::size_t v = 0; v < n; ++v) {
        wider.push_back(column.features[v]);
        wider.push_back(static_cast<float>(alignment[v]));
      }
      column.features = std::move(wider);
      column.width = 2;
      column.alignment = std::move(alignment);
      length_of_.push_back(lengths_.size());
      lengths_.push_back(alignment_length);
    }
  }
  constexpr std::size_t most_names = 8;
  if (whole && low == 0 && usable.size() >= 3 && n <= most_names) add_different(column, n, different_length);
  return column;
}

KERNELSEARCH_INLINE void SpaceFeatures::write(const Config& config, std::span<float> out) const {
  std::size_t at = 0;
  for (const Column& column : columns_) {
    const float* from = &column.features[config.indices[column.tunable] * column.width];
    for (std::size_t k = 0; k < column.width; ++k) out[at++] = from[k];
  }
}

KERNELSEARCH_INLINE void SpaceFeatures::place(const Config& config, std::span<double> out) const {
  for (std::size_t c = 0; c < columns_.size(); ++c)
    out[c] = columns_[c].place[config.indices[columns_[c].tunable]];
}

KERNELSEARCH_INLINE double SpaceFeatures::alignment(const Config& config) const {
  double sum = 0;
  std::size_t count = 0;
  for (const Column& column : columns_) {
    if (column.alignment.empty()) continue;
    sum += column.alignment[config.indices[column.tunable]];
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace kernelsearch::detail
