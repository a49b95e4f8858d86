// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "quantile.hpp"

namespace kernelsearch::comparing {
namespace {

/// From `first` to `last`, evenly in logarithm.
std::vector<double> log_grid(double first, double last, std::size_t points) {
  if (!(last > first) || points < 2) return {last};
  std::vector<double> grid;
  for (std::size_t i = 0; i < points; ++i)
    grid.push_back(first * std::pow(last / first, static_cast<double>(i) / static_cast<double>(points - 1)));
  grid.back() = last;
  return grid;
}

std::vector<double> evaluation_grid(std::uint64_t last, std::size_t points) {
  std::vector<double> grid = log_grid(1.0, static_cast<double>(last), points);
  for (double& x : grid) x = std::round(x);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

CurvePoint point(double x, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {x, sorted_quantile(values, 0.25), sorted_quantile(values, 0.5), sorted_quantile(values, 0.75)};
}

/// After each evaluation, how far above the optimum the best is.
std::vector<double> excess(const Landscape& landscape, const Trace& trace) {
  std::vector<double> values;
  double best = std::numeric_limits<double>::infinity();
  for (const std::uint32_t configuration : trace.evaluations) {
    best = std::min(best, landscape.objective(configuration));
    values.push_back(best / landscape.best() - 1);
  }
  return values;
}

}  // namespace

std::vector<CurvePoint> curve_by_evaluations(const Landscape& landscape,
                                             const std::vector<const Trace*>& traces, std::size_t points) {
  std::vector<SpacedTrace> spaced;
  for (const Trace* trace : traces) spaced.push_back({&landscape, trace});
  return curve_over_spaces(spaced, points);
}

std::vector<CurvePoint> curve_over_spaces(const std::vector<SpacedTrace>& traces, std::size_t points) {
  std::vector<std::vector<double>> repeats;
  std::vector<double> lengths;
  for (const auto& [landscape, trace] : traces) {
    repeats.push_back(excess(*landscape, *trace));
    lengths.push_back(static_cast<double>(repeats.back().size()));
  }
  const auto last = static_cast<std::uint64_t>(median(lengths));
  if (last == 0) return {};
  std::vector<CurvePoint> curve;
  for (const double x : evaluation_grid(last, points)) {
    std::vector<double> values;
    for (const auto& repeat : repeats)
      values.push_back(repeat.empty() ? std::numeric_limits<double>::infinity()
                                      : repeat[std::min(static_cast<std::size_t>(x), repeat.size()) - 1]);
    curve.push_back(point(x, std::move(values)));
  }
  return curve;
}

std::vector<CurvePoint> curve_by_seconds(const Landscape& landscape, const std::vector<const Trace*>& traces,
                                         std::size_t points) {
  std::vector<std::vector<double>> repeats;
  std::vector<double> firsts, lasts;
  for (const Trace* trace : traces) {
    if (trace->seconds.empty() || trace->seconds.size() != trace->evaluations.size()) return {};
    repeats.push_back(excess(landscape, *trace));
    firsts.push_back(trace->seconds.front());
    lasts.push_back(trace->seconds.back());
  }
  if (traces.empty() || !(median(firsts) > 0)) return {};
  std::vector<CurvePoint> curve;
  for (const double x : log_grid(median(firsts), median(lasts), points)) {
    std::vector<double> values;
    for (std::size_t r = 0; r < repeats.size(); ++r) {
      const std::vector<double>& seconds = traces[r]->seconds;
      const auto done = std::upper_bound(seconds.begin(), seconds.end(), x) - seconds.begin();
      values.push_back(done == 0 ? std::numeric_limits<double>::infinity()
                                 : repeats[r][static_cast<std::size_t>(done) - 1]);
    }
    curve.push_back(point(x, std::move(values)));
  }
  return curve;
}

std::vector<CurvePoint> random_curve(const Landscape& landscape, std::uint64_t last, std::size_t points) {
  std::vector<CurvePoint> curve;
  for (const double x : evaluation_grid(last, points)) {
    const double value = landscape.baseline(static_cast<std::uint64_t>(x)) / landscape.best() - 1;
    curve.push_back({x, value, value, value});
  }
  return curve;
}

std::vector<CurvePoint> random_over_spaces(const std::vector<const Landscape*>& landscapes,
                                           std::uint64_t last, std::size_t points) {
  std::vector<CurvePoint> curve;
  for (const double x : evaluation_grid(last, points)) {
    std::vector<double> values;
    for (const Landscape* landscape : landscapes)
      values.push_back(landscape->baseline(static_cast<std::uint64_t>(x)) / landscape->best() - 1);
    curve.push_back(point(x, std::move(values)));
  }
  return curve;
}

}  // namespace kernelsearch::comparing
