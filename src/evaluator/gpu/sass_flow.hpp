// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/sass.hpp"

namespace kernelsearch::detail::gpu {

/// An instruction as far as control flow goes.
struct SassLine {
  enum class Flow : std::uint8_t {
    next,    ///< goes on with the next one
    branch,  ///< goes to the target only
    either,  ///< goes to the target or on
    end,     ///< goes nowhere that could be seen
  };
  std::uint64_t address = 0;
  std::string opcode;
  Flow flow = Flow::next;
  std::optional<std::uint64_t> target;
};

/// The natural loops of a function whose instructions are in the order of their addresses; loops with one
/// head are one. At most 2000.
[[nodiscard]] std::vector<SassLoop> natural_loops(const std::vector<SassLine>& lines);

}  // namespace kernelsearch::detail::gpu
