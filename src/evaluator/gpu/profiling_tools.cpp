// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/profiling_tools.hpp"

#include "evaluator/gpu/ncu_run.hpp"
#include "evaluator/gpu/sanitizer_run.hpp"
#include "evaluator/gpu/tool.hpp"

namespace kernelsearch {

ProfilingTools profiling_tools() {
  const std::filesystem::path nowhere;
  return {detail::gpu::find_ncu({}).value_or(nowhere),
          detail::gpu::find_compute_sanitizer({}).value_or(nowhere),
          detail::gpu::find_disassembler({}).value_or(nowhere)};
}

}  // namespace kernelsearch
