// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/evaluator/code_loops.hpp"
#include "kernelsearch/evaluator/host/object_counts.hpp"

namespace kernelsearch {

/// A natural loop of a processor's machine code; addresses within the library.
struct ObjectLoop : CodeLoop {
  ObjectCounts counts;  ///< inner loops included, and the library's functions that are called
  ObjectCounts own;     ///< those in no inner loop
};

/// The entry function of a library, or one that it reaches.
struct ObjectFunction {
  std::string name;
  std::uint64_t address = 0;
  ObjectCounts counts;
};

/// A call of a function, in the library or not.
struct ObjectCall {
  std::string function;  ///< its plain name: `expf`, or `gate` of `(anonymous namespace)::gate(float)`
  std::uint64_t returns_to = 0;         ///< address of the instruction after the call; 0: none
  std::uint64_t target = 0;             ///< address of the function in the library; 0: it is not there
  std::size_t source_line = 0;          ///< of the kernel's text; 0: not known
  std::vector<std::size_t> loops = {};  ///< those that it is in, or that call what it is in
};

/// An instruction: the line of the kernel's text that it was made of, and the loop that it is in.
struct ObjectPlace {
  std::uint64_t address = 0;
  std::size_t source_line = 0;           ///< 0: not known
  std::optional<std::size_t> loop = {};  ///< the innermost that has it, or calls the function that has it
};

/// The machine code that runs when a library's entry function is called, as far as the library has it.
struct ObjectCode {
  std::vector<ObjectFunction> functions;  ///< by address; empty: the entry function is not there
  ObjectCounts counts;                    ///< of all of them
  std::vector<ObjectLoop> loops;          ///< by address
  std::optional<std::size_t> hot;         ///< of the loops: see `hottest_loop`
  std::vector<ObjectCall> calls;          ///< by address
  std::vector<ObjectPlace> places;        ///< of all instructions, by address
  bool loops_complete = true;             ///< false where a computed jump may hide loops
  bool functions_complete = true;  ///< false where a computed call may reach functions that are not listed

  [[nodiscard]] const ObjectLoop* hot_loop() const noexcept { return hot ? &loops[*hot] : nullptr; }
};

/// The code reached from `entry` in the output of `objdump -d --no-show-raw-insn` for x86-64 in AT&T syntax:
/// by calls and jumps, through the library's own tables of linkage, and by taking an address (threads are
/// given theirs so). With the output of `objdump -R` before it, also what those tables hold for code that
/// does not go through them by name, and what a computed call may find in data. Names serve to find what is
/// called and prove nothing. Work that makes a loop hot is arithmetic and memory access, packed
/// instructions counting for 4, 8 or 16. With `-l` also which lines of the kernel's text instructions and
/// calls come from: what was inlined from the system's headers belongs to the line before it, and lines of
/// regions that are not the device's are not known. Nothing of other processors. Any text can be parsed.
[[nodiscard]] ObjectCode parse_object_code(std::string_view text, std::string_view entry);

/// Features of one of the loops, for which it is the hot one: code.loop.<signature> and, for the four
/// functions that it calls from most places, code.call.NAME, the number of these places, and
/// code.call.NAME.line, the first one's line.
[[nodiscard]] Features loop_features(const ObjectCode& code, std::size_t loop);

/// Features: code.complete, code.loops, code.<signature> and those of the hot loop, which are absent without
/// a loop or where loops may be hidden; only code.complete = 0 where functions may be; none without the
/// entry function.
[[nodiscard]] Features object_features(const ObjectCode& code);

}  // namespace kernelsearch
