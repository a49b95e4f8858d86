// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// A name that C++ and file systems take: letters, digits and underscores, no digit first.
[[nodiscard]] std::string identifier(const std::string& name);

/// For a file with a kernel: the backend's, or the problem's own where a backend has several languages.
[[nodiscard]] std::string kernel_extension(const Problem& problem);

/// Without line ends and backslashes, which would end a comment or go on with it.
[[nodiscard]] std::string one_line(std::string text);

/// A kernel with its tunables defined, ready to build. `comment` stands at the top.
[[nodiscard]] std::string source_text(const std::string& comment, const Regions& regions,
                                      const std::vector<NamedValue>& values, Backend backend);

/// A shader with its tunables as macros, those that it declares as specialisation constants with their values
/// there, and the commands that compile it; of a ready module its words, with the values in its constants.
[[nodiscard]] std::string shader_text(const std::string& comment, const Problem& problem,
                                      const Regions& regions, const std::vector<NamedValue>& values);

/// A header with the tunables: as macros, which is how the evaluator gives them to the kernel, or as
/// constants in the namespace <problem>_settings where KERNELSEARCH_SETTINGS_AS_CONSTANTS is defined before
/// it is included. Never both: a macro would replace the constant's name wherever it is used.
[[nodiscard]] std::string settings_text(const std::string& comment, const std::string& problem,
                                        const std::vector<NamedValue>& values);

/// What a configuration is built with, for people: the compiler and its flags, or the problem's own command.
[[nodiscard]] std::string build_line(const Problem& problem, const std::vector<NamedValue>& values);

/// The words of the problem's build command, tunables and the function in their places.
[[nodiscard]] std::vector<std::string> build_words(const Problem& problem,
                                                   const std::vector<NamedValue>& values);

/// Where a kernel that a build command makes is written.
struct CommandFiles {
  std::filesystem::path source;  ///< the kernel as the command gets it, under its own suffix
  std::filesystem::path script;  ///< makes the object file, in a folder of its own as the evaluator does
};

/// Writes `NAME_best` with the source's suffix, `NAME_best.sh`, and in `NAME_build` what lies next to the
/// source. `comment` stands at the top of the script, as the source's language may have others.
[[nodiscard]] CommandFiles write_command_files(const Problem& problem, const Regions& regions,
                                               const std::vector<NamedValue>& values,
                                               const std::string& comment,
                                               const std::filesystem::path& folder);

/// Replaces the file; a ConfigError where that cannot be done.
void write_file(const std::filesystem::path& file, const std::string& text);

/// The same of a file in a subfolder of `folder`, which is made; ConfigError where a link leads out of it.
void write_file_below(const std::filesystem::path& folder, const std::filesystem::path& name,
                      const std::string& text);

}  // namespace kernelsearch::detail
