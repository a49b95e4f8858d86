// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_options.hpp"
#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// A task of a benchmark.
struct BenchTask {
  std::string name;  ///< its path below the folder that was named, without `.py`
  std::filesystem::path path;
};

/// The tasks of folders, sorted: problem folders, modules and other tasks in Python (`.py`), folders with a
/// definition.json, task.yml or config.yaml, and the definitions of a data set (`definitions/`). Folders in a
/// folder that has tasks of its own are not searched, unless they are tasks. A file is a task. What cannot be
/// read as one is found too, to be refused with its reason. ConfigError for a path that does not exist and
/// where there is no task.
[[nodiscard]] std::vector<BenchTask> find_bench_tasks(std::span<const std::filesystem::path> paths);

/// The answers to a task in a folder: files of its name, at its place in the folder or directly in it, with
/// an extension of code; and those of KernelBench's own runs, `level_1_problem_19_sample_0_kernel.py`, which
/// are answers to `level1/19_*`.
[[nodiscard]] std::vector<std::filesystem::path> bench_answers(const BenchTask& task,
                                                               const std::filesystem::path& folder);

/// How a task is worked on.
struct BenchRun {
  std::string name;                                 ///< of the run in the store
  bool search = true;                               ///< as `options` say; false: answers are judged
  std::vector<std::filesystem::path> answers = {};  ///< the problem's own kernel is judged before them
  RunOptions options = {};
};

/// What became of it.
struct BenchEnd {
  RunId run{};
  bool stopped = false;
  bool own_kernel = false;  ///< an answer is the problem's own kernel, which is judged once
  std::size_t trials = 0;   ///< that were told now; 0: the run had been finished before
};

/// Works on a task until its run is finished. The newest run of that name in `parts.store`, if it is of the
/// same problem, is continued; nothing is done if it is finished, its budget is the one asked for, and the
/// answers were judged. Errors are those of Run, and ConfigError if another process works on the run.
[[nodiscard]] BenchEnd run_bench_task(const Problem& problem, const std::filesystem::path& path, BenchRun how,
                                      RunParts parts, RunObserver& observer);

}  // namespace kernelsearch
