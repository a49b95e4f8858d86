// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"

namespace kernelsearch::detail::gpu {

/// The ncu program; nothing where it is nowhere.
[[nodiscard]] std::optional<std::filesystem::path> find_ncu(const std::filesystem::path& given);

/// What ncu is to look at.
struct NcuTask {
  std::vector<std::string> command;  ///< that runs the kernels
  std::vector<std::string> kernels;  ///< names in the image
  std::size_t skip = 0, count = 1;   ///< launches of them
  bool cold = true;                  ///< empty caches before each replay
  double seconds = 120.0;
};

/// Runs ncu; metrics that it does not know are dropped from `metrics` and it is run again. A ConfigError
/// where counters may not be read.
[[nodiscard]] NcuObservation run_ncu(const std::filesystem::path& program, const NcuTask& task,
                                     std::vector<std::string>& metrics);

}  // namespace kernelsearch::detail::gpu
