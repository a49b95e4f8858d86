// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/host/process.hpp"
#include "kernelsearch/evaluator/host/sandbox.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// One run of a compiler on one source.
struct CompilerRun {
  std::string source;               ///< its text
  std::string name = "kernel.cpp";  ///< its file's name, by which compilers know the language
  std::vector<SourceFile> units;    ///< further sources, by the names of their files in messages
  std::vector<SourceFile> files;    ///< to include, below one folder
  /// The compiler and its options; `SOURCE` stands for the path of the source, `UNIT0`, `UNIT1`, ... of the
  /// further ones, `OUTPUT` of the result, and `PROBLEM`, alone or before a slash, of the folder with the
  /// files.
  std::vector<std::string> argv;
  std::vector<std::filesystem::path> readable;  ///< folders outside of the system's that it may read
  std::vector<std::string> environment;         ///< `NAME=value`
  std::vector<int> cores;                       ///< that it may run on; empty: all
  std::vector<std::pair<int, std::uint64_t>> limits;
  double seconds = 60.0;
  std::size_t max_output = std::size_t{256} << 20;  ///< bytes of what it makes
};

/// Runs it in the sandbox to its end or its limit: `Finished::output` is what it made, `errors` what it said.
/// Names of files below the folder are relative to it in `errors`. What it makes leaves the sandbox through
/// a pipe, as no folder of ours is writable in there.
[[nodiscard]] Finished run_compiler_in(Sandbox sandbox, const CompilerRun& run);

}  // namespace kernelsearch::detail
