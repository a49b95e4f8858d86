// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"

namespace kernelsearch {

/// A natural loop of a function's control flow: the blocks from which its head is reached again. Addresses in
/// bytes from the function's begin; blocks of others may lie between them.
struct SassLoop {
  std::uint64_t begin = 0;  ///< of its head
  std::uint64_t end = 0;    ///< of its last instruction
  std::size_t depth = 1;    ///< 1: in no other loop
  SassCounts counts;        ///< inner loops included, and subroutines that are called
  SassCounts own;           ///< those in no inner loop
};

/// One kernel, or a function that it calls, in machine code.
struct SassFunction {
  std::string name;  ///< as in the image
  SassCounts counts;
  std::vector<SassLoop> loops;     ///< by address
  std::optional<std::size_t> hot;  ///< of the loops: see `parse_sass`
  SassCounts in_loops;             ///< of all loops, each instruction once, and subroutines they call
  /// The same of the loops that have instructions of the tensor cores in them, however deep: what is in
  /// the loops of warps that only copy is not there.
  SassCounts in_product_loops;
  std::vector<std::string> calls{};  ///< other functions of the image, by name
  bool complete = true;  ///< false where a computed jump or call may hide loops or what they contain
  /// Registers of a thread, and bytes of its stack and local memory; nothing where the output does not say.
  std::optional<std::size_t> registers{}, local_bytes{};

  [[nodiscard]] const SassLoop* hot_loop() const noexcept { return hot ? &loops[*hot] : nullptr; }
};

/// The functions in the output of `cuobjdump -sass`, with `-res-usage` or not, or `nvdisasm -c`. The hot
/// loop is the one that presumably runs most, as compilers guess it: the work of its own (arithmetic and
/// memory, not waiting), ten times as much with each level of nesting, an instruction of the tensor cores
/// counting for 32. Branches that only gather the threads of a warp (BRA.U.ANY) make no loop. Any text can
/// be parsed.
[[nodiscard]] std::vector<SassFunction> parse_sass(std::string_view text);

/// How machine code is made readable.
struct SassOptions {
  /// nvdisasm or cuobjdump; empty: KERNELSEARCH_NVDISASM or KERNELSEARCH_CUOBJDUMP, else PATH, the toolkit's
  /// folder, and the one that comes with Triton.
  std::filesystem::path program{};
  double seconds = 30.0;
};

/// Disassembles a compiled image, or the device code in a shared library of this machine, for which
/// cuobjdump must be there, and which says what resources a thread of each function has. A ConfigError
/// where no disassembler is there or it refuses the image.
[[nodiscard]] std::vector<SassFunction> read_sass(const std::vector<std::byte>& image,
                                                  const SassOptions& options = {});

/// Those of the launched functions and what they call, directly or not.
[[nodiscard]] std::vector<SassFunction> reached_functions(std::vector<SassFunction> functions,
                                                          const std::vector<std::string>& launched);

/// Features of the functions taken together: sass.complete, sass.instructions, sass.loops, sass.<signature>,
/// sass.<ldg|stg|lds|sts>_<8|16|32|64|128> (bits of a thread's access), sass.<ldg|stg>_bits (of one on
/// average; absent without any). Where every function is complete and there is a loop,
/// sass.loops.instructions and sass.loops.<signature> of all loops together (a kernel whose warps have parts
/// of their own has copies and products in different ones), and
/// sass.product_loops.<barrier_arrive|mbarrier_arrive>. For the hot loop of the function that has the most
/// work in its, sass.loop.instructions and sass.loop.<signature>; absent without a loop, or where a function
/// is not complete. Where they are known, the most registers and local_bytes of a function.
[[nodiscard]] Features sass_features(const std::vector<SassFunction>& functions);

}  // namespace kernelsearch
