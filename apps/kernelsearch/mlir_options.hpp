// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>

#include "kernelsearch/run/mlir_problem.hpp"

namespace kernelsearch::app {

/// Whether what the user names is a schedule of MLIR rather than a problem.
[[nodiscard]] inline bool is_mlir_file(const std::filesystem::path& path) {
  return path.extension() == ".mlir" && !std::filesystem::is_directory(path);
}

inline void add_mlir_options(CLI::App& sub, MlirProblemOptions& options) {
  sub.add_option("--payload", options.payload,
                 "For a schedule (.mlir): the module that it transforms; default: payload.mlir next to it")
      ->check(CLI::ExistingFile);
  sub.add_option("--function", options.function,
                 "For a schedule: the payload's function; default: its only one");
  sub.add_option(
         "--reference", options.reference,
         "For a schedule: C++ file with FUNCTION_reference; default: reference.cpp next to it, or the "
         "payload without it")
      ->check(CLI::ExistingFile);
}

}  // namespace kernelsearch::app
