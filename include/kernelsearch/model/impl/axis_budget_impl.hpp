// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernelsearch/model/axis_budget.hpp"

namespace kernelsearch {
namespace detail {

using AxisShares = std::array<std::optional<double>, 3>;

/// Where gaps and remainders are equal.
inline constexpr std::array<Axis, 3> budget_ties{Axis::memory, Axis::latency, Axis::compute};

/// Shares of `total` in proportion to the gaps of the axes that take part. Summed from the smallest on, so
/// that shares do not depend on which axis has which gap.
inline AxisShares axis_shares(const AxisShares& gaps, std::size_t total) {
  std::array<double, 3> sorted{};
  for (std::size_t i = 0; i < 3; ++i) sorted[i] = gaps[i].value_or(0.0);
  std::sort(sorted.begin(), sorted.end());
  const double sum = sorted[0] + sorted[1] + sorted[2];
  AxisShares shares;
  for (std::size_t i = 0; i < 3; ++i)
    if (gaps[i]) shares[i] = sum > 0 ? static_cast<double>(total) * *gaps[i] / sum : 0.0;
  return shares;
}

}  // namespace detail

KERNELSEARCH_INLINE AxisBudget axis_budget(const RooflineGaps& gaps, AxisBudgetOptions options) {
  constexpr double rounding = 1e-9;  // remainders that differ by less are equal: they come from divisions
  detail::AxisShares known;
  for (const Axis axis : all_axes) {
    const auto& gap = gaps[axis];
    if (!gap || !std::isfinite(*gap) || *gap < options.smallest) continue;
    known[static_cast<std::size_t>(axis)] = *gap;
  }
  const detail::AxisShares shares = detail::axis_shares(known, options.total);
  AxisBudget budget;
  for (std::size_t i = 0; i < 3; ++i)
    if (shares[i])
      budget.slots[i] = std::min(options.cap, static_cast<std::size_t>(std::max(0.0, *shares[i])));
  // No product with the cap: both may be the largest number there is.
  const auto open = [&](Axis axis) {
    return known[static_cast<std::size_t>(axis)].has_value() && budget[axis] < options.cap;
  };
  while (budget.total() < options.total) {
    std::optional<Axis> next;
    for (const Axis axis : detail::budget_ties) {
      if (!open(axis)) continue;
      const auto left = [&](Axis of) {
        return *shares[static_cast<std::size_t>(of)] - static_cast<double>(budget[of]);
      };
      const double ahead = next ? left(axis) - left(*next) : 1.0;
      if (ahead > rounding || (std::abs(ahead) <= rounding && *gaps[axis] > *gaps[*next])) next = axis;
    }
    if (!next) break;
    ++budget[*next];
  }
  return budget;
}

KERNELSEARCH_INLINE AxisBudget axis_budget_as_published(const RooflineGaps& gaps, AxisBudgetOptions options) {
  detail::AxisShares known;
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double gap = gaps.values[i].value_or(0.5);
    known[i] = gap < options.smallest ? 0.0 : gap;
    sum += *known[i];
  }
  AxisBudget budget;
  if (sum < 0.01) {
    for (std::size_t& slots : budget.slots) slots = std::min(options.cap, options.total / 3);
    return budget;
  }
  std::array<double, 3> shares{};
  std::size_t over = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    shares[i] = static_cast<double>(options.total) * *known[i] / sum;
    const auto slots = static_cast<std::size_t>(std::nearbyint(shares[i]));
    budget.slots[i] = std::min(slots, options.cap);
    over += slots - budget.slots[i];
  }
  std::array<std::size_t, 3> falling{0, 1, 2};
  std::stable_sort(falling.begin(), falling.end(),
                   [&](std::size_t a, std::size_t b) { return *known[a] > *known[b]; });
  for (const std::size_t i : falling) {
    const std::size_t more = std::min(over, options.cap - budget.slots[i]);
    budget.slots[i] += more;
    over -= more;
  }
  const auto left = [&](Axis axis) {
    return shares[static_cast<std::size_t>(axis)] - static_cast<double>(budget[axis]);
  };
  while (budget.total() < options.total) {
    std::optional<Axis> next;
    for (const Axis axis : detail::budget_ties)
      if (budget[axis] < options.cap && (!next || left(axis) > left(*next))) next = axis;
    if (!next) break;
    ++budget[*next];
  }
  while (budget.total() > options.total) {
    std::optional<Axis> next;
    for (auto axis = detail::budget_ties.rbegin(); axis != detail::budget_ties.rend(); ++axis)
      if (budget[*axis] > 0 && (!next || left(*axis) < left(*next))) next = *axis;
    --budget[*next];
  }
  return budget;
}

}  // namespace kernelsearch
