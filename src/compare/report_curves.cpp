// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "report_curves.hpp"

#include <algorithm>
#include <cstdint>

namespace kernelsearch::comparing {
namespace {

constexpr std::size_t curve_points = 90;

std::vector<const Trace*> traces_of(const ReportContents& contents, const std::string& strategy,
                                    const std::string& space) {
  std::vector<const Trace*> traces;
  for (const Trace& trace : contents.traces)
    if (trace.strategy == strategy && trace.space == space) traces.push_back(&trace);
  return traces;
}

}  // namespace

std::vector<const PolicyScores*> best_first(const ReportContents& contents) {
  std::vector<const PolicyScores*> order;
  for (const PolicyScores& policy : contents.scores) order.push_back(&policy);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->areas.front().value > b->areas.front().value;
  });
  return order;
}

ReportFigure figure_by_evaluations(const ReportContents& contents, const Landscape& landscape) {
  ReportFigure figure;
  std::uint64_t longest = 1;
  const auto order = best_first(contents);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto traces = traces_of(contents, order[i]->strategy, landscape.name());
    if (traces.empty()) continue;
    for (const Trace* trace : traces) longest = std::max<std::uint64_t>(longest, trace->evaluations.size());
    figure.curves.push_back(
        {{order[i]->strategy, curve_by_evaluations(landscape, traces, curve_points)}, i, i < most_bands});
  }
  figure.random = random_curve(landscape, longest, curve_points);
  figure.texts = {"Excess over the optimum on " + landscape.name() + " by evaluations", "evaluations", false};
  return figure;
}

ReportFigure figure_by_seconds(const ReportContents& contents, const Landscape& landscape) {
  ReportFigure figure;
  bool timed = false;
  const auto order = best_first(contents);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto traces = traces_of(contents, order[i]->strategy, landscape.name());
    if (traces.empty()) continue;
    figure.curves.push_back(
        {{order[i]->strategy, curve_by_seconds(landscape, traces, curve_points)}, i, i < most_bands});
    timed = timed || !figure.curves.back().curve.points.empty();
  }
  if (!timed) figure.curves.clear();
  figure.texts = {"Excess over the optimum on " + landscape.name() + " by recorded time", "recorded time",
                  true};
  return figure;
}

ReportFigure figure_over_spaces(const ReportContents& contents) {
  ReportFigure figure;
  std::uint64_t longest = 1;
  const auto order = best_first(contents);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<SpacedTrace> traces;
    for (const Landscape& landscape : contents.landscapes)
      for (const Trace* trace : traces_of(contents, order[i]->strategy, landscape.name()))
        traces.push_back({&landscape, trace});
    if (traces.empty()) continue;
    for (const SpacedTrace& one : traces)
      longest = std::max<std::uint64_t>(longest, one.trace->evaluations.size());
    figure.curves.push_back(
        {{order[i]->strategy, curve_over_spaces(traces, curve_points)}, i, i < most_bands});
  }
  std::vector<const Landscape*> landscapes;
  for (const Landscape& landscape : contents.landscapes) landscapes.push_back(&landscape);
  figure.random = random_over_spaces(landscapes, longest, curve_points);
  figure.texts = {"Excess over the optimum on all spaces by evaluations", "evaluations", false};
  return figure;
}

}  // namespace kernelsearch::comparing
