// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/runtime/plan.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Makes what times candidates of this problem in pairs.
using PairingMaker = std::function<AnyEvaluator(const Problem&)>;

/// What goes into a plan.
struct PlanExportOptions {
  /// An entry only where its settings beat the default configuration in interleaved pairs at 95 %; false: the
  /// fastest of each shape, proven or not.
  bool never_worse = true;
  double max_distance = 2.0;  ///< see ProblemPlan
  /// Where set, pairs that are missing, or of a run that proved nothing by them, are measured and kept in the
  /// store.
  PairingMaker measure = nullptr;
};

/// A plan, and what is to be said of how it came to be.
struct PlanExport {
  Plan plan;
  std::vector<std::string> notes;  ///< one line for each shape
};

/// The plan of a stored run: for each timed shape the winner's settings or those that were fastest on it,
/// whichever is better proven against the default configuration. Pairs are those that runs measured (of GPU
/// problems, and of problems whose default is their reference, the run's own) and those that an earlier
/// export has measured on this device with this toolchain. The same recorded data give the same plan.
///
/// ConfigError where the run has no winner, its candidates are not configurations of the problem's kernel as
/// it is now, or with `never_worse` nothing at all was measured in pairs with the default.
[[nodiscard]] PlanExport export_plan(RunStore& store, RunId run, const Problem& problem,
                                     const PlanExportOptions& options = {});

/// `PlanExportOptions::measure` for this machine. Pairs are of four fresh pairs of processes, on the host.
[[nodiscard]] PairingMaker measuring_on(const MeasurementOptions& options);

}  // namespace kernelsearch
