// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

namespace kernelsearch {

/// NVIDIA's tools as they are found on this machine; empty where one is missing.
struct ProfilingTools {
  std::filesystem::path nsight_compute;
  std::filesystem::path compute_sanitizer;
  std::filesystem::path disassembler;  ///< nvdisasm or cuobjdump
};

/// Looks where NcuProfiler, ComputeSanitizer and `read_sass` look.
[[nodiscard]] ProfilingTools profiling_tools();

}  // namespace kernelsearch
