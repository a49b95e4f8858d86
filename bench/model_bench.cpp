// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Times the learners at the sizes that a search has: 1000 candidates, 9 or 20 features.
//
//     model_bench                     a Markdown table of medians
//     model_bench --forest FILE N     fits and queries forests of 100 trees on the rows of a CSV file
//                                     (features, then a target; labels: above the median), N times; one
//                                     line of milliseconds each (what forest_vs_sklearn.py reads)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/kmeans.hpp"
#include "kernelsearch/model/logistic_head.hpp"
#include "kernelsearch/model/normaliser.hpp"
#include "kernelsearch/model/random_forest.hpp"

namespace ks = kernelsearch;

namespace {

/// Processor time of this thread: other work on the machine does not count.
double milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

template <class F>
double timed(F&& f) {
  const double start = milliseconds();
  f();
  return milliseconds() - start;
}

template <class F>
double median(std::size_t repeats, F&& f) {
  std::vector<double> times;
  for (std::size_t i = 0; i < repeats; ++i) times.push_back(timed(f));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double sink = 0;

ks::FeatureMatrix random_rows(std::size_t rows, std::size_t columns, ks::Rng& rng) {
  ks::FeatureMatrix matrix(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    matrix.add_row();
    for (double& value : matrix.row(i)) value = rng.normal();
  }
  return matrix;
}

struct Data {
  ks::FeatureMatrix rows{1};
  std::vector<double> targets;
  std::vector<bool> labels;
};

void label(Data& data) {
  std::vector<double> sorted = data.targets;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                   sorted.end());
  const double middle = sorted[sorted.size() / 2];
  for (const double target : data.targets) data.labels.push_back(target > middle);
}

Data read_csv(const char* path) {
  std::ifstream in(path);
  std::string line;
  Data data;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<double> row;
    for (std::string field; std::getline(fields, field, ',');)
      row.push_back(std::strtod(field.c_str(), nullptr));
    data.targets.push_back(row.back());
    row.pop_back();
    if (data.targets.size() == 1) data.rows = ks::FeatureMatrix(row.size());
    data.rows.add_row(row);
  }
  if (data.targets.empty()) {
    std::fprintf(stderr, "model_bench: nothing to read in %s\n", path);
    std::exit(2);
  }
  label(data);
  return data;
}

void forest_line(const Data& data, std::uint64_t seed) {
  ks::ForestOptions options{.seed = seed};
  ks::ForestOptions entropy = options;
  entropy.criterion = ks::SplitCriterion::entropy;
  ks::ForestOptions all = ks::regressor_defaults;
  all.seed = seed;
  const double gini_fit = timed([&] {
    sink += ks::RandomForestClassifier(data.rows, data.labels, {}, options).predict(data.rows.row(0));
  });
  const double entropy_fit = timed([&] {
    sink += ks::RandomForestClassifier(data.rows, data.labels, {}, entropy).predict(data.rows.row(0));
  });
  const double regressor_fit = timed(
      [&] { sink += ks::RandomForestRegressor(data.rows, data.targets, {}, all).predict(data.rows.row(0)); });
  const ks::RandomForestClassifier forest(data.rows, data.labels, {}, options);
  const double predict = timed([&] {
    std::vector<double> probability(data.rows.rows());
    forest.predict(data.rows, probability);
    sink += probability[0];
  });
  std::printf("%.4f %.4f %.4f %.4f\n", gini_fit, entropy_fit, regressor_fit, predict);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--forest") == 0) {
    const Data data = read_csv(argv[2]);
    for (int i = 0; i < std::atoi(argv[3]); ++i) forest_line(data, static_cast<std::uint64_t>(i));
    return sink == 12345.0 ? 1 : 0;
  }
  if (argc != 1) {
    std::fprintf(stderr, "usage: model_bench [--forest FILE N]\n");
    return 2;
  }

  constexpr std::size_t candidates = 1000;
  ks::Rng rng(1);
  const ks::FeatureMatrix runtime = random_rows(candidates, 6, rng),
                          profile = random_rows(candidates, 9, rng);
  std::vector<bool> labels;
  for (std::size_t i = 0; i < candidates; ++i) labels.push_back(profile.row(i)[0] > 0.3 * rng.normal());
  std::printf("| what, at %zu candidates | median ms |\n|---|---|\n", candidates);
  const auto row = [](const char* what, double ms) { std::printf("| %s | %.4f |\n", what, ms); };

  row("z-scores of 6 features", median(51, [&] {
        ks::RunningZScore scale(6);
        std::vector<double> out(6);
        for (std::size_t i = 0; i < candidates; ++i) scale.observe(runtime.row(i));
        for (std::size_t i = 0; i < candidates; ++i) {
          scale.normalise(runtime.row(i), out);
          sink += out[0];
        }
      }));
  ks::KMeans means(6, {.clusters = 3, .subsample = 0.1});
  row("clusters from scratch (3, 6 features, seeds from a tenth)",
      median(51, [&] { sink += static_cast<double>(means.fit(runtime)[0]); }));
  row("clusters, one mini-batch refresh", median(51, [&] { means.refresh(runtime); }));
  row("a point into its cluster, 1000 times", median(51, [&] {
        for (std::size_t i = 0; i < candidates; ++i) sink += static_cast<double>(means.add(runtime.row(i)));
      }));
  ks::LogisticHead head(9);
  row("a head learns from 1000 pairs (9 features)", median(51, [&] {
        for (std::size_t i = 0; i < candidates; ++i) head.add(profile.row(i), labels[i]);
      }));
  row("a head predicts 1000 candidates", median(51, [&] {
        for (std::size_t i = 0; i < candidates; ++i) sink += head.predict(profile.row(i));
      }));
  const ks::FeatureMatrix wide = random_rows(candidates, 20, rng);
  std::vector<bool> wide_labels;
  std::vector<double> targets;
  for (std::size_t i = 0; i < candidates; ++i) {
    const auto x = wide.row(i);
    targets.push_back(x[0] + x[1] * x[2] + std::abs(x[3]) + 0.3 * rng.normal());
    wide_labels.push_back(targets.back() > 0.8);
  }
  ks::ForestOptions options{.out_of_bag = true};
  row("classifier, 100 trees, 20 features, with out-of-bag error", median(7, [&] {
        sink += ks::RandomForestClassifier(wide, wide_labels, {}, options).out_of_bag_error();
      }));
  ks::ForestOptions thirds = options;
  thirds.max_features = 6;
  row("regressor, 100 trees, 6 of 20 features a split, with out-of-bag error",
      median(7, [&] { sink += ks::RandomForestRegressor(wide, targets, {}, thirds).out_of_bag_error(); }));
  const ks::RandomForestClassifier forest(wide, wide_labels);
  row("1000 predictions of 100 trees", median(21, [&] {
        std::vector<double> probability(candidates);
        forest.predict(wide, probability);
        sink += probability[0];
      }));
  return sink == 12345.0 ? 1 : 0;
}
