// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// How the problem of a folder with a make_problem.json is made (docs/formats/make_problem.md).
struct ProblemMaker {
  std::filesystem::path folder{};      ///< that the file lies in, absolute
  std::string name{};                  ///< of the problem's folder, a C++ identifier
  std::vector<std::string> command{};  ///< as written; `${FOLDER}` and `${OUT}` stand for folders
};

/// Whether that is a folder with a make_problem.json and no problem.json, or such a make_problem.json itself.
[[nodiscard]] bool has_problem_maker(const std::filesystem::path& path);

/// Reads the make_problem.json of a folder. A ConfigError with its line where it is not as the format has it.
[[nodiscard]] ProblemMaker read_problem_maker(const std::filesystem::path& path);

/// The folder that its problem is written to where none is named: `NAME_problem` in the current folder.
[[nodiscard]] std::filesystem::path made_problem_folder(const ProblemMaker& maker);

/// What a problem is made with.
struct MakeProblemOptions {
  std::vector<std::string> arguments{};              ///< behind the words of the command
  std::function<void(std::string_view)> messages{};  ///< told what the command prints, as it comes
  std::stop_token stop{};                            ///< ends the command
};

/// Runs the command, in the current folder and with the rights and the environment of this process, and
/// leaves the problem that it has written in `out`; false where it was stopped. A folder that an earlier call
/// made is emptied first; any other that is not empty is left alone and a ConfigError. So are a command that
/// fails, with the last lines of what it printed, and one that writes no problem; of both nothing is left.
[[nodiscard]] bool make_problem(const ProblemMaker& maker, const std::filesystem::path& out,
                                const MakeProblemOptions& options = {});

}  // namespace kernelsearch
