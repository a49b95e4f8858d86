// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"

namespace kernelsearch::comparing {

/// How far above the optimum the best so far is, as best so far / optimum - 1, over repeats; infinity where
/// nothing valid was found yet.
struct CurvePoint {
  double x = 0.0;  ///< evaluations, or recorded seconds
  double low = 0.0, median = 0.0, high = 0.0;
};

struct Curve {
  std::string name;
  std::vector<CurvePoint> points;
};

/// By evaluations, at about `points` of them that are evenly spaced in logarithm, until half of the repeats
/// have ended.
[[nodiscard]] std::vector<CurvePoint> curve_by_evaluations(const Landscape& landscape,
                                                           const std::vector<const Trace*>& traces,
                                                           std::size_t points);

/// By recorded seconds; empty where a trace does not tell them.
[[nodiscard]] std::vector<CurvePoint> curve_by_seconds(const Landscape& landscape,
                                                       const std::vector<const Trace*>& traces,
                                                       std::size_t points);

/// A run and where it was.
struct SpacedTrace {
  const Landscape* landscape;
  const Trace* trace;
};

/// By evaluations over runs on several spaces, each run counting the same, until half of them have ended.
[[nodiscard]] std::vector<CurvePoint> curve_over_spaces(const std::vector<SpacedTrace>& traces,
                                                        std::size_t points);

/// The quartiles over the spaces of what random search is expected to have.
[[nodiscard]] std::vector<CurvePoint> random_over_spaces(const std::vector<const Landscape*>& landscapes,
                                                         std::uint64_t last, std::size_t points);

/// What random search is expected to have after each number of evaluations up to `last`.
[[nodiscard]] std::vector<CurvePoint> random_curve(const Landscape& landscape, std::uint64_t last,
                                                   std::size_t points);

}  // namespace kernelsearch::comparing
