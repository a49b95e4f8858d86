// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What a `config.yaml` of AgentKernelArena says, docs/tasks.md: a file to rewrite, and the commands that
/// build, check and time it.
struct CommandTask {
  std::string type;                             ///< e.g. `triton2triton`
  std::string source;                           ///< the file that an answer replaces, below the folder
  std::vector<std::string> functions;           ///< that are to be faster
  std::vector<std::string> build, check, time;  ///< for /bin/sh, in the folder, in this order
  double build_seconds = 600, check_seconds = 600, time_seconds = 1800;  ///< limits of each command
};

/// Whether the folder has a `config.yaml` with the three commands, and no problem.json.
[[nodiscard]] bool is_command_task_folder(const std::filesystem::path& folder);

/// The problem that such a folder is: an answer is the text of `source`, the first is the folder's own.
/// Reading runs nothing. `python`: the interpreter that the commands' `python3` is to be; it is looked for if
/// left out. A ConfigError with the reason for what cannot be judged.
[[nodiscard]] Problem read_command_task(const std::filesystem::path& folder,
                                        const std::filesystem::path& python = {});

/// Whether a text has a line `// %RANGE% MACRO label FIRST:LAST:STEP`, as benchmarks of CUB have.
[[nodiscard]] bool is_cub_benchmark(std::string_view text);

/// The problem that a benchmark of CUB in a copy of CCCL is: its macros are tunables, and CUB's own choice
/// (TUNE_BASE) is the default. nvcc builds it with NVBench, which NVBENCH_ROOT names, and the time is the one
/// that NVBench reports of the device. It checks no results. A ConfigError as above.
[[nodiscard]] Problem read_cub_benchmark(const std::filesystem::path& file,
                                         const std::filesystem::path& python = {});

/// Whether the problem was made of such a folder; its commands say what is right and how long it takes.
[[nodiscard]] bool has_command_reference(const Problem& problem) noexcept;
/// What its commands are.
[[nodiscard]] CommandTask command_task_of(const Problem& problem);

}  // namespace kernelsearch
