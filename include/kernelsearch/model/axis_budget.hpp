// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/model/roofline.hpp"

namespace kernelsearch {

/// Numbers of methods that one iteration tries on each axis.
struct AxisBudget {
  std::array<std::size_t, 3> slots{};

  [[nodiscard]] std::size_t operator[](Axis axis) const noexcept {
    return slots[static_cast<std::size_t>(axis)];
  }
  [[nodiscard]] std::size_t& operator[](Axis axis) noexcept { return slots[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::size_t total() const noexcept { return slots[0] + slots[1] + slots[2]; }
  friend bool operator==(const AxisBudget&, const AxisBudget&) = default;
};

struct AxisBudgetOptions {
  std::size_t total = 3;
  std::size_t cap = 2;    ///< for one axis
  double smallest = 0.1;  ///< gaps below it get nothing
};

/// Slots in proportion to the gaps, by floor and largest remainder; ties go to the larger gap, then memory
/// before latency before compute. Only axes whose gap is known and at least `smallest` take part, so that the
/// total is min(total, cap * axes that take part): none where nothing is known (docs/roofline.md).
[[nodiscard]] AxisBudget axis_budget(const RooflineGaps& gaps, AxisBudgetOptions options = {});

/// The rule as its authors' code has it, for comparison: unknown gaps count 0.5, shares are rounded half to
/// even, and what a cap cuts off may go to an axis without a gap.
[[nodiscard]] AxisBudget axis_budget_as_published(const RooflineGaps& gaps, AxisBudgetOptions options = {});

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/axis_budget_impl.hpp"
#endif
