// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "arena.hpp"

namespace kernelsearch::detail {

/// The index, counted as those of the array, of the element to which a byte behind its end belongs;
/// `distance` bytes lie between.
[[nodiscard]] inline std::int64_t index_behind(const PlannedArgument& array, Storage storage,
                                               std::int64_t distance) noexcept {
  return static_cast<std::int64_t>(array.count) +
         distance / static_cast<std::int64_t>(stored_bytes(array, storage));
}

/// The same of a byte before its beginning: negative.
[[nodiscard]] inline std::int64_t index_before(const PlannedArgument& array, Storage storage,
                                               std::int64_t distance) noexcept {
  return -(distance / static_cast<std::int64_t>(stored_bytes(array, storage)) + 1);
}

/// `it wrote outside of its arrays: y[1000], past the end of y (1000 elements)`, where an overrun was found.
[[nodiscard]] inline std::string overrun_text(const Problem& problem, const ShapePlan& plan,
                                              const std::optional<Slots::Overrun>& overrun) {
  std::string text = "it wrote outside of its arrays";
  if (!overrun) return text;
  const std::string& name = problem.arguments[overrun->argument].name;
  return text + ": " + name + '[' + std::to_string(overrun->index) + "], " +
         (overrun->index < 0 ? "before the beginning of " : "past the end of ") + name + " (" +
         std::to_string(plan.arguments[overrun->argument].count) + " elements)";
}

/// The same of a slot whose guard zones are not intact.
[[nodiscard]] inline std::string overrun_text(const Problem& problem, const Slots& slots, std::size_t slot) {
  return overrun_text(problem, slots.plan(), slots.overrun(slot));
}

}  // namespace kernelsearch::detail
