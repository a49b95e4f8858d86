// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

namespace kernelsearch {

/// What a schedule of MLIR's transform dialect is made a problem with.
struct MlirProblemOptions {
  /// The module that the schedule transforms; empty: payload.mlir in the schedule's folder.
  std::filesystem::path payload{};
  std::string function{};  ///< of the payload; empty: its only one
  /// A C++ file with a function `FUNCTION_reference` as docs/formats/problem.md describes references; empty:
  /// reference.cpp in the schedule's folder, and where there is none the payload lowered to loops without the
  /// schedule, as C++ (MLIR's EmitC).
  std::filesystem::path reference{};
};

/// The folder that a schedule's problem is written to where none is named: `FUNCTION_problem` in the current
/// folder.
[[nodiscard]] std::filesystem::path mlir_problem_folder(const std::filesystem::path& schedule,
                                                        const MlirProblemOptions& options = {});

/// Writes the ordinary problem folder of a schedule: its generic form, the payload, a reference, a build.sh
/// that lowers and compiles, and a problem.json with knobs, alternatives and constraints as tunables and
/// constraints (docs/mlir.md). A folder that an earlier call wrote is written anew; any other is left alone
/// and a ConfigError, as are operations without a meaning here and what MLIR's tools refuse, with their
/// messages. A DeviceError where mlir-opt-22 or mlir-translate-22 is not installed.
void write_mlir_problem(const std::filesystem::path& schedule, const std::filesystem::path& folder,
                        const MlirProblemOptions& options = {});

}  // namespace kernelsearch
