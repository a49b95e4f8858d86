// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernel_search.hpp"
#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/run/lane_judge.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "run_impl.hpp"

namespace kernelsearch::detail {

/// How evaluations are kept apart in the store by what was observed besides times.
enum class KeptAs : std::uint8_t { plain, inspected, counted, observed, paired, powered };

/// What is at hand while a run begins.
struct Beginning {
  RunImpl& run;
  RunParts& parts;
  RunObserver& observer;
  SystemSetup setup = {};                ///< what models are told, and more of a system
  std::string digest = {};               ///< of how the problem is measured
  std::string device = {};               ///< that measures
  std::vector<EarlierRun> earlier = {};  ///< what a policy learns from
  std::shared_ptr<AskedMoves> asked = std::make_shared<AskedMoves>();  ///< by the moves of a system
};

/// What kinds of run differ in: one of a policy, one of a system, and one that kernels are submitted to. Each
/// kind is made by a function of its own, so that what begins a run need not know which it is.
struct RunPlan {
  std::string policy, generator;  ///< as the store names them
  std::string budget = "200";     ///< where none is given
  bool ends_with_space = false;   ///< a budget of `all` is the number of the space's configurations
  JudgeKind judge = JudgeKind::plain;
  KeptAs kept = KeptAs::plain;
  bool counters = false;       ///< a profiler's counters are wanted where they can be had
  bool tells_machine = false;  ///< the writer of kernels is told what they are measured on
  bool writes = false;         ///< kernels are written, and what changed in them is remembered
  unsigned ahead = 1;          ///< proposals in flight for each compiler
  std::size_t proposals = 0;   ///< at a time; 0: as compilers and lanes need
  /// In this order; each may be empty.
  std::function<void(Beginning&)> learn = nullptr;  ///< from earlier runs, once it is known what measures
  std::function<void(Beginning&)> check = nullptr;  ///< what cannot be used, before a run is in the store
  std::function<void(Beginning&)> open = nullptr;   ///< its models, once the run is in the store
  std::function<std::unique_ptr<KernelSearch>(Beginning&, SearchContext, RunJudge, OptimizerOptions)> search =
      nullptr;
};

/// Whether objectives read what only an inspector of machine code sees.
[[nodiscard]] inline bool reads_code(const Objectives& objectives) noexcept {
  return objectives.reads({"code.", "sass."});
}
/// Whether they read what is only observed where meters are asked.
[[nodiscard]] inline bool reads_meters(const Objectives& objectives) noexcept {
  return objectives.reads({"energy_", "power_"});
}

/// The plan of the run that the options name, which are settled: what they leave open to a policy or a system
/// has its value. ConfigError for what does not go together.
[[nodiscard]] RunPlan plan_run(Beginning& begun);

}  // namespace kernelsearch::detail
