// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"

namespace kernelsearch::detail::gpu {

/// The compute-sanitizer program; nothing where it is nowhere.
[[nodiscard]] std::optional<std::filesystem::path> find_compute_sanitizer(const std::filesystem::path& given);

/// Runs the command under the tool. A DeviceError where the tool gave no summary, and so no judgement.
[[nodiscard]] SanitizerFinding run_sanitizer(const std::filesystem::path& program, SanitizerTool tool,
                                             const std::vector<std::string>& command, double seconds);

}  // namespace kernelsearch::detail::gpu
