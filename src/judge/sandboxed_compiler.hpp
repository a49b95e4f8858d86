// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/process/sandbox.hpp"
#include "process/run_command.hpp"

namespace kernelsearch::detail {

/// In the options of a CompilerRun: the folder in which its texts are, and the file that it makes.
inline constexpr std::string_view compiler_root = "${ROOT}", compiler_output = "${OUTPUT}";

/// One run of a compiler.
struct CompilerRun {
  std::vector<SourceFile> texts;                ///< what it reads, by names relative to `compiler_root`
  std::vector<std::string> argv;                ///< the compiler and its options
  std::vector<std::filesystem::path> readable;  ///< folders outside of the system's that it may read
  std::vector<std::string> environment;         ///< `NAME=value`
  std::vector<int> cores;                       ///< that it may run on; empty: all
  std::vector<std::pair<int, std::uint64_t>> limits;
  double seconds = 60.0;
  std::stop_token stop = {};                        ///< ends it, as at its limit
  std::size_t max_output = std::size_t{256} << 20;  ///< bytes of what it makes
  /// It is not a compiler that we know but the problem's own command: it runs in a copy of the folder
  /// `problem/` that it may write, which is `compiler_work` in its options, and sees its own processes in
  /// /proc, if only its own can be shown. Whether it makes something is its business.
  bool is_command = false;
  /// For a command: the output is for `split_made`, with the file `compiler_output`.json where it made one.
  bool is_described = false;
};

/// In the options of a command: the copy of `problem/`.
inline constexpr std::string_view compiler_work = "${WORK}";

/// What a described command made: the file, and the text of the one next to it.
struct DescribedOutput {
  std::string file;
  std::string description;
  bool is_described = false;  ///< it made the file next to it, which may be empty
};

/// Takes apart the output of a described command; nothing where it made no file.
[[nodiscard]] std::optional<DescribedOutput> split_made(std::string output);

/// Runs it in the sandbox to its end or its limit: `Finished::output` is what it made, `errors` what it said,
/// with its texts named as they are here, those in `problem/` as in the problem's folder.
/// What it makes leaves the sandbox through a pipe, as no folder of ours is writable in there.
[[nodiscard]] Finished run_compiler_in(Sandbox sandbox, const CompilerRun& run);

}  // namespace kernelsearch::detail
