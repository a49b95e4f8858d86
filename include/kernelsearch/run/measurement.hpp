// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// On what candidates are measured and how, in the words of the command's options.
struct MeasurementOptions {
  std::string sandbox = "auto";      ///< see sandbox_from(); `none` is for kernels that are trusted
  std::string cache = {};            ///< `warm` or `cold`; empty: warm on the host, cold on a GPU
  int core = -1;                     ///< of host kernels; -1: the last that no other run measures on
  std::vector<int> devices = {0};    ///< GPUs by number
  unsigned jobs = 0;                 ///< compilers at a time; 0: one for each core but the measured one
  std::size_t samples = 0;           ///< of each timed shape, and pairs; 0: as many as precision asks for
  bool inspect = false;              ///< features of the machine code as well: docs/evidence.md
  std::string require_sandbox = {};  ///< a weaker one is a ConfigError; empty: none is required
  std::vector<std::string> readable = {};  ///< for build commands, and kernels on the host
  WaitTeller waits = nullptr;              ///< hears when another process measures on the same core or device
  WaitTeller notes = nullptr;              ///< hears once what about the problem cannot be checked
  std::string build_for = {};              ///< see GpuOptions::build_for; for workers that only build
};

/// The cache mode that a problem of this backend is measured with.
[[nodiscard]] std::string cache_mode(const MeasurementOptions& options, Backend backend);

/// The sandbox that these options come to on this machine, never `automatic`. ConfigError where it does not
/// work or is weaker than required.
[[nodiscard]] Sandbox chosen_sandbox(const MeasurementOptions& options);

/// Folders for HostOptions::readable by the names that a user gave; ConfigError for what is not a folder.
[[nodiscard]] std::vector<std::filesystem::path> readable_folders(const std::vector<std::string>& names);

/// How finalists and whatever else is compared for people are paired: as FinalistSteps says, and no more
/// pairs than `samples` where that is set.
[[nodiscard]] PairOptions finalist_pairs(const MeasurementOptions& options);

[[nodiscard]] HostOptions host_options(const MeasurementOptions& options);
[[nodiscard]] GpuOptions gpu_options(const MeasurementOptions& options);

/// Keeps the calling thread and all that it starts from now on off the core that is measured on, where there
/// is another.
void leave_core_to_measuring(int core);

/// The evaluator for the problem's backend, on this machine. ConfigError or DeviceError as its constructor.
[[nodiscard]] AnyEvaluator make_evaluator(Problem problem, const MeasurementOptions& options);

/// Each right candidate is also timed against the reference, not only one that is the best so far.
[[nodiscard]] AnyEvaluator make_pairing_evaluator(Problem problem, const MeasurementOptions& options);

/// The peaks of this machine's device for the problem, those of a host measured now; empty where they are not
/// known.
[[nodiscard]] DevicePeaks device_peaks(const Problem& problem, int device = 0);

}  // namespace kernelsearch
