// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"
#include "kernelsearch/evaluator/gpu/gpu_check.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/host/host_sanitizer.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/tunable_effects.hpp"

namespace kernelsearch {

/// How deep `check_problem` looks.
struct ProblemCheckOptions {
  bool run = true;     ///< false: only what can be seen without running anything
  bool quick = false;  ///< leave out what takes longer: sanitizers, and measuring what tunables change
  LintOptions lint{};
  HostOptions host{};
  GpuOptions gpu{};
  HostSanitizerOptions host_sanitizer{};
  SanitizerOptions gpu_sanitizer{};
  TunableEffectOptions effects{};
};

/// What was found, and what was not looked at.
struct ProblemCheck {
  std::vector<LintFinding> findings;
  std::vector<std::string> left_out;  ///< each with the reason; empty where `run` is false or `quick` true
  std::vector<std::string> shapes;    ///< on which the reference and the default of a host problem were run
  std::optional<GpuCheck> gpu;        ///< of a CUDA or HIP problem that was to be run
};

/// Looks for mistakes in a problem that reading cannot show. In every problem `lint_static` and tunables that
/// are used nowhere. For host problems `lint`, `sanitize_on_host` and `measure_tunable_effects`; for CUDA and
/// HIP ones `check_on_gpu` and, where that could judge the default, Compute Sanitizer and
/// `measure_tunable_effects`; nothing is measured while there are errors. `on_stage` is told what begins. A
/// ConfigError where sandbox, worker, compiler or core of a host problem are not to be had.
[[nodiscard]] ProblemCheck check_problem(const Problem& problem, const ProblemCheckOptions& options = {},
                                         const std::function<void(std::string_view)>& on_stage = {});

}  // namespace kernelsearch
