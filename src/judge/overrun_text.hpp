// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "arena.hpp"
#include "judge/fault.hpp"

namespace kernelsearch::detail {

/// The index, counted as those of the array, of the element to which a byte belongs that lies behind an array
/// of `count` elements of `element_bytes`; `distance` bytes lie between.
[[nodiscard]] inline std::int64_t index_behind(std::size_t count, std::size_t element_bytes,
                                               std::size_t distance) noexcept {
  return static_cast<std::int64_t>(count + distance / element_bytes);
}

/// The same of a byte before its beginning: negative.
[[nodiscard]] inline std::int64_t index_before(std::size_t element_bytes, std::size_t distance) noexcept {
  return -static_cast<std::int64_t>(distance / element_bytes) - 1;
}

/// An array in a memory.
struct LaidArray {
  std::size_t argument = 0, begin = 0, count = 0, element_bytes = 1;
};

/// The place of a write between arrays, which are in the order of their beginnings: bytes from `first` to
/// before `last`, next to the nearer of the two arrays that they lie between.
[[nodiscard]] std::optional<Slots::Place> nearest_place(std::span<const LaidArray> arrays, std::size_t first,
                                                        std::size_t last);

/// `: y[1000], past the end of y (1000 elements)`, with as much as is known; empty where nothing is.
[[nodiscard]] inline std::string place_text(const Overrun& overrun) {
  if (overrun.array.empty()) return {};
  if (!overrun.index) return ": " + overrun.array;
  return ": " + overrun.array + '[' + std::to_string(*overrun.index) + "], " +
         (*overrun.index < 0 ? "before the beginning of " : "past the end of ") + overrun.array + " (" +
         std::to_string(overrun.elements) + " elements)";
}

/// What every judge says of a write outside of the arrays.
[[nodiscard]] inline Fault overrun_fault(Overrun overrun) {
  Fault fault{Verdict::cheated, "it wrote outside of its arrays" + place_text(overrun)};
  fault.overrun = std::move(overrun);
  return fault;
}

/// The place as the problem names it; nothing of it is known where none was found.
[[nodiscard]] inline Overrun named(const Problem& problem, const ShapePlan& plan,
                                   const std::optional<Slots::Place>& place) {
  if (!place) return {};
  return {problem.arguments[place->argument].name, place->index, plan.arguments[place->argument].count};
}

/// The same of a slot whose guard zones are not intact.
[[nodiscard]] inline Overrun overrun_in(const Problem& problem, const Slots& slots, std::size_t slot) {
  return named(problem, slots.plan(), slots.overrun(slot));
}

}  // namespace kernelsearch::detail
