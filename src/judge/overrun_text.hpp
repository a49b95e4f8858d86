// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>

#include "arena.hpp"

namespace kernelsearch::detail {

/// `it wrote outside of its arrays: y[1000], past the end of y (1000 elements)`, of a slot whose guard zones
/// are not intact.
[[nodiscard]] inline std::string overrun_text(const Problem& problem, const Slots& slots, std::size_t slot) {
  std::string text = "it wrote outside of its arrays";
  const std::optional<Slots::Overrun> overrun = slots.overrun(slot);
  if (!overrun) return text;
  const std::string& name = problem.arguments[overrun->argument].name;
  return text + ": " + name + '[' + std::to_string(overrun->index) + "], " +
         (overrun->index < 0 ? "before the beginning of " : "past the end of ") + name + " (" +
         std::to_string(slots.plan().arguments[overrun->argument].count) + " elements)";
}

}  // namespace kernelsearch::detail
