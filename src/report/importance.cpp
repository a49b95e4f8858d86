// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/random_forest.hpp"
#include "kernelsearch/report/report_model.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t fewest = 16;   // less than that says nothing of a half
constexpr std::size_t most = 2000;   // of 10^5 trials as much can be learned from as many, within a second
constexpr std::size_t shuffles = 3;  // of each column; their mean is taken
constexpr double least_explained = 0.1;

struct Sample {
  FeatureMatrix rows;
  std::vector<double> targets;
};

double squared_error(const RandomForestRegressor& forest, const Sample& sample) {
  std::vector<double> predicted(sample.rows.rows());
  forest.predict(sample.rows, predicted);
  double sum = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    sum += (predicted[i] - sample.targets[i]) * (predicted[i] - sample.targets[i]);
  return sum / static_cast<double>(predicted.size());
}

double variance_of(const std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size());
}

/// What the error at `other` grows by when a column is shuffled, for each column of `varied`.
double add_growth(const Sample& learned, const Sample& other, Rng& rng, std::vector<double>& growth) {
  ForestOptions options = regressor_defaults;
  options.trees = 60;
  const RandomForestRegressor forest(learned.rows, learned.targets, {}, options);
  const double error = squared_error(forest, other);
  for (std::size_t c = 0; c < growth.size(); ++c) {
    Sample shuffled = other;
    for (std::size_t s = 0; s < shuffles; ++s) {
      std::vector<double> column;
      for (std::size_t i = 0; i < other.rows.rows(); ++i) column.push_back(other.rows.row(i)[c]);
      rng.shuffle(column);
      for (std::size_t i = 0; i < column.size(); ++i) shuffled.rows.row(i)[c] = column[i];
      growth[c] += (squared_error(forest, shuffled) - error) / static_cast<double>(shuffles);
    }
  }
  return error;
}

}  // namespace

std::optional<double> set_importance(std::vector<ReportTunable>& tunables,
                                     std::span<const ReportTrial> trials) {
  std::vector<std::size_t> varied;
  for (std::size_t t = 0; t < tunables.size(); ++t)
    if (tunables[t].values.size() > 1) varied.push_back(t);
  std::vector<const ReportTrial*> right;
  for (const ReportTrial& trial : trials)
    if (trial.verdict == Verdict::ok && trial.seconds > 0 && std::isfinite(trial.seconds))
      right.push_back(&trial);
  if (varied.empty() || right.size() < fewest) return std::nullopt;
  Rng rng = Rng::stream(0, "importance");
  rng.shuffle(right);
  if (right.size() > most) right.resize(most);

  Sample halves[2] = {{FeatureMatrix(varied.size()), {}}, {FeatureMatrix(varied.size()), {}}};
  std::vector<double> targets;
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<double> row;
    for (const std::size_t t : varied) row.push_back(right[i]->values[t]);
    halves[i % 2].rows.add_row(row);
    halves[i % 2].targets.push_back(std::log(right[i]->seconds));
    targets.push_back(halves[i % 2].targets.back());
  }
  const double variance = variance_of(targets);
  if (!(variance > 0)) return std::nullopt;
  std::vector<double> growth(varied.size(), 0.0);
  double error = add_growth(halves[0], halves[1], rng, growth);
  error = (error + add_growth(halves[1], halves[0], rng, growth)) / 2;
  const double explained = 1 - error / variance;
  for (double& one : growth) one = std::max(one, 0.0);
  const double sum = std::accumulate(growth.begin(), growth.end(), 0.0);
  if (explained < least_explained || !(sum > 0)) return explained;
  for (ReportTunable& tunable : tunables) tunable.importance = 0.0;
  for (std::size_t i = 0; i < varied.size(); ++i) tunables[varied[i]].importance = growth[i] / sum;
  return explained;
}

}  // namespace kernelsearch
