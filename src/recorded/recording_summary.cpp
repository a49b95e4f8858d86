// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/recording_summary.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch {
namespace {

/// Between the two neighbours, as numpy does by default.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::size_t budget_of(const std::vector<double>& sorted, double median_seconds) {
  constexpr double cutoff = 0.95;
  const double target = sorted.front() + (median_seconds - sorted.front()) * (1 - cutoff);
  const auto good =
      static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), target) - sorted.begin());
  const double worse = static_cast<double>(sorted.size() - good);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(worse / static_cast<double>(good + 1))));
}

}  // namespace

RecordingSummary summarize_recording(const Recording& recording) {
  RecordingSummary summary;
  std::vector<double> times, spreads;
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    const RecordedTrial& trial = recording.trials[i];
    const Evaluation& evaluation = trial.evaluation;
    ++summary.verdicts[static_cast<std::size_t>(evaluation.verdict)];
    summary.phases.build += evaluation.phases.build;
    summary.phases.check += evaluation.phases.check;
    summary.phases.measure += evaluation.phases.measure;
    summary.framework_seconds += trial.framework_seconds;
    if (evaluation.verdict != Verdict::ok) continue;
    const double seconds = evaluation.measurement.seconds;
    times.push_back(seconds);
    spreads.push_back(evaluation.measurement.spread);
    if (seconds < summary.best_seconds) {
      summary.best_seconds = seconds;
      summary.best = i;
    }
  }
  summary.right = times.size();
  if (times.empty()) return summary;
  std::sort(times.begin(), times.end());
  summary.median_seconds = median(times);
  summary.spread = median(spreads);
  constexpr double shares[] = {0.05, 0.25, 0.75, 0.95}, margins[] = {1.01, 1.05, 1.10};
  for (std::size_t i = 0; i < 4; ++i) summary.quantiles[i] = quantile(times, shares[i]);
  for (std::size_t i = 0; i < 3; ++i)
    summary.near_best[i] = static_cast<std::size_t>(
        std::upper_bound(times.begin(), times.end(), summary.best_seconds * margins[i]) - times.begin());
  summary.budget = budget_of(times, summary.median_seconds);
  return summary;
}

}  // namespace kernelsearch
