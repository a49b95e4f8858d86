// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch {

/// A problem to edit, made of a kernel that comes without one.
struct DraftProblem {
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text, the file to edit first
  std::vector<std::string> to_edit;                        ///< what was guessed, a sentence each
};

/// A problem of the `__global__` function of that name in CUDA or HIP code, or of the only one if the name is
/// empty: types, roles and the launch come from its text; sizes of arrays and shapes are guessed. What the
/// kernel computes now is right. `file`: its name, whose extension tells the language. A ConfigError if the
/// file has no such function, or several, or a parameter of a type that no problem has.
[[nodiscard]] DraftProblem draft_of_device_code(std::string_view code, const std::string& name,
                                                const std::string& file, std::string_view function = {});

/// A module in KernelBench's form around a Triton kernel and the function that launches it, the last one of
/// the file or the one of that name: what it returns now is right. Inputs are guessed from its parameters.
/// `file`: its name. A ConfigError if there is no such function.
[[nodiscard]] DraftProblem draft_of_triton(std::string_view code, const std::string& file,
                                           std::string_view function = {});

/// What `write_draft` wrote.
struct WrittenDraft {
  std::filesystem::path problem;     ///< the folder, or the module's file in it: what `tune` takes
  std::vector<std::string> to_edit;  ///< what was guessed, a sentence each
};

/// Writes a problem folder made of a file: device code or a Triton kernel as above, or what `tune` takes
/// for a problem (a PyTorch module, a task, a definition), with its sources as files. A
/// ConfigError if a file is in the way.
WrittenDraft write_draft(const std::filesystem::path& folder, const std::string& name,
                         const std::filesystem::path& from, std::string_view function = {});

}  // namespace kernelsearch
