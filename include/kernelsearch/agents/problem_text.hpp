// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What is known of how a problem is measured, in addition to the problem.
struct ProblemFacts {
  DevicePeaks peaks = {};  ///< of the device; empty: shapes are shown without the roofline's bound
  std::optional<bool> cold =
      {};                     ///< whether timed calls find empty caches; nothing: as the backend's default
  bool fixed_kernel = false;  ///< only tunables are searched: nothing is said of what code may change
};

/// What must be computed and how it is judged, for a model: function and its signature, arguments with types,
/// ranges and tolerances, shapes with weights and the least time that the roofline allows, launch, build line
/// and what is timed. The same bytes for the same problem and facts.
[[nodiscard]] std::string problem_text(const Problem& problem, const ProblemFacts& facts = {});

/// The language of the problem's kernels as a fence names it, for an external program or a module in Python
/// that of its file; empty where it is not known.
[[nodiscard]] std::string_view kernel_language(const Problem& problem);

/// A count with its prefix, e.g. `268 M` or `3.15 G`, for the unit that follows.
[[nodiscard]] std::string scaled_text(double value);

}  // namespace kernelsearch
