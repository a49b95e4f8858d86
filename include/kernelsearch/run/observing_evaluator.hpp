// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch {

/// An evaluator whose right candidates are looked into as well, with what it could not look at, in words.
struct ObservingEvaluator {
  AnyEvaluator evaluator;
  std::vector<std::string> missing;  ///< e.g. that there is no profiler on this machine
};

/// The evaluator of `make_evaluator` with all that RooflineBudget decides by as features: the problem's
/// traits, the place in the roofline (Nsight Compute on CUDA where it may be used; else counted work against
/// peaks, which are measured on the host) and the machine code. Tools that are missing are named and their
/// features absent.
[[nodiscard]] ObservingEvaluator make_observing_evaluator(Problem problem, const MeasurementOptions& options);

/// The evaluator of `make_evaluator` with the machine code and the place in the roofline by counted work as
/// features: what is cheap to look at, for those who write kernels. What cannot be looked at is absent.
[[nodiscard]] AnyEvaluator make_inspecting_evaluator(Problem problem, const MeasurementOptions& options);

}  // namespace kernelsearch
