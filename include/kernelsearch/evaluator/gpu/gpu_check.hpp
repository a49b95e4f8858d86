// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How a device problem was checked, and what was found.
struct GpuCheck {
  enum class Depth { nothing, compiled, judged };
  Depth depth = Depth::nothing;
  std::string on;       ///< the device, or the compiler and what it compiled for
  std::string missing;  ///< why it went no deeper; empty where everything was judged
  std::vector<LintFinding> findings;
};

/// Judges the default configuration of a CUDA or HIP problem as a candidate of a search is judged, less the
/// comparison with itself. Where there is no device it compiles the default and the reference, for
/// `options.architecture` or else sm_90a or gfx90a; where there is no compiler either it says so.
[[nodiscard]] GpuCheck check_on_gpu(const Problem& problem, GpuOptions options = {});

}  // namespace kernelsearch
