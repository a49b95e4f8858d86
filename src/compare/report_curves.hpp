// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "figure.hpp"
#include "kernelsearch/compare/html_report.hpp"

namespace kernelsearch::comparing {

inline constexpr std::size_t most_bands = 5;  ///< more of them hide each other

/// The policies, that with the highest P first: the order of every table, and their styles in every figure.
[[nodiscard]] std::vector<const PolicyScores*> best_first(const ReportContents& contents);

/// A figure before it is drawn; without curves there is nothing to draw.
struct ReportFigure {
  std::vector<StyledCurve> curves;
  std::vector<CurvePoint> random;  ///< what random search is expected to have; empty: not drawn
  FigureTexts texts;
};

[[nodiscard]] ReportFigure figure_by_evaluations(const ReportContents& contents, const Landscape& landscape);
/// Without curves where no policy's traces tell recorded time.
[[nodiscard]] ReportFigure figure_by_seconds(const ReportContents& contents, const Landscape& landscape);
/// All runs on all spaces together.
[[nodiscard]] ReportFigure figure_over_spaces(const ReportContents& contents);

}  // namespace kernelsearch::comparing
