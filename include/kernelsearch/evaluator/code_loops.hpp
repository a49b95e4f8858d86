// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// Where control goes after an instruction.
enum class CodeFlow : std::uint8_t {
  next,    ///< on to the next one
  branch,  ///< to a target only
  either,  ///< to a target or on
  call,    ///< to a target and then on
  end,     ///< nowhere that could be seen
};

/// An instruction as far as control flow goes.
struct CodeLine {
  std::uint64_t address = 0;
  CodeFlow flow = CodeFlow::next;
  std::vector<std::uint64_t> targets{};  ///< addresses; what is at none of the lines is passed over
};

/// A natural loop: the blocks from which its head is reached again. Blocks of others may lie between its
/// first and its last instruction.
struct CodeLoop {
  std::uint64_t begin = 0;  ///< address of its head
  std::uint64_t end = 0;    ///< of its last instruction, less what it calls
  std::size_t depth = 1;    ///< 1: in no other loop, nor called from one
};

/// The natural loops of code that begins with the first line and whose lines are in the order of their
/// addresses, in the order of their heads. Loops with one head are one; a single instruction that jumps to
/// itself is not one. At most 2000. `visit(loop, line, own)` is called once for each line of each loop and of
/// what is called from there, `own` where no inner loop has it.
[[nodiscard]] std::vector<CodeLoop> code_loops(
    std::span<const CodeLine> lines,
    const std::function<void(std::size_t loop, std::size_t line, bool own)>& visit);

/// The loop that presumably runs most, as compilers guess it: the most work of its own, ten times as much
/// with each level of nesting, the first of equals. None where no loop has work. `work[i]` is of loop i.
[[nodiscard]] std::optional<std::size_t> hottest_loop(std::span<const CodeLoop> loops,
                                                      std::span<const std::size_t> work);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/evaluator/impl/code_loops_impl.hpp"
#endif
