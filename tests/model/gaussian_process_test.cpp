// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/gaussian_process.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

struct Data {
  FeatureMatrix points{2};
  std::vector<double> targets;
};

/// A wave in the first feature; the second has no part in it.
Data wave(std::size_t n, std::uint64_t seed, double noise) {
  Rng rng(seed);
  Data data;
  for (std::size_t i = 0; i < n; ++i) {
    const double row[] = {rng.uniform(), rng.uniform()};
    data.points.add_row(row);
    data.targets.push_back(std::sin(6 * row[0]) + noise * rng.normal());
  }
  return data;
}

GaussianProcess make() {
  return GaussianProcess({.lengths = {{0, 1.5}, {0, 1.5}}, .steps = 30});
}

}  // namespace

TEST_CASE(
    "GaussianProcess: the length scale of a feature without effect grows, that of one with effect shrinks") {
  GaussianProcess process = make();
  const Data data = wave(60, 1, 0.01);
  process.fit(data.points, data.targets);
  CHECK(process.lengths()[0] < 1);
  CHECK(process.lengths()[1] > 3);
  CHECK(process.noise() < 0.01);
}

TEST_CASE("GaussianProcess: predicts between the points, and is surer there than far away") {
  GaussianProcess process = make();
  const Data data = wave(60, 2, 0.01);
  process.fit(data.points, data.targets);
  process.condition(data.points, data.targets);
  const Data other = wave(50, 3, 0.0);
  for (std::size_t i = 0; i < other.targets.size(); ++i)
    CHECK(process.predict(other.points.row(i)).mean == approx(other.targets[i]).epsilon(0.1).scale(1));
  const double inside[] = {0.5, 0.5}, outside[] = {3.0, 0.5};
  CHECK(process.predict(inside).variance < 0.05 * process.predict(outside).variance);
}

TEST_CASE("GaussianProcess: noisy targets are seen to be noisy") {
  GaussianProcess process = make();
  const Data data = wave(100, 4, 0.5);
  process.fit(data.points, data.targets);
  CHECK(process.noise() > 0.05);
}

TEST_CASE("GaussianProcess: the posterior is that of the textbook's formula for one point") {
  GaussianProcess process({.lengths = {{0, 1}}, .log_noise = {std::log(0.1), 1}});
  FeatureMatrix one(1);
  const double at[] = {0.0};
  one.add_row(at);
  process.condition(one, std::vector<double>{2.0});
  const double x[] = {0.5};
  const double s = std::sqrt(5.0) * 0.5, k = (1 + s + s * s / 3) * std::exp(-s), own = 1 + 0.1 + 1e-6;
  CHECK(process.predict(x).mean == approx(2 * k / own));
  CHECK(process.mean(x) == process.predict(x).mean);
  const double signal = (4 / own + 2) / 3;
  CHECK(process.predict(x).variance == approx(signal * (1 - k * k / own)));
}

TEST_CASE("GaussianProcess: what the observations share beyond the kernel is not explained by it again") {
  // A steep line: with the line's own covariance given, nothing is left for the kernel to explain.
  FeatureMatrix points(1);
  std::vector<double> targets, known;
  for (int i = 0; i < 20; ++i) {
    const double row[] = {i / 19.0};
    points.add_row(row);
    targets.push_back(10 * row[0]);
  }
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 20; ++j) known.push_back(100 * (i / 19.0) * (j / 19.0));
  GaussianProcess plain({.lengths = {{0, 1}}, .steps = 20}), told({.lengths = {{0, 1}}, .steps = 20});
  plain.fit(points, targets);
  told.fit(points, targets, known);
  CHECK(plain.lengths()[0] < 2);  // it must bend to follow the line
  CHECK(told.lengths()[0] > 4);
}

TEST_CASE("GaussianProcess: wrong sizes are refused") {
  CHECK_THROWS_AS(GaussianProcess({.lengths = {{0, 1}}, .length_of = {0, 1}}), ConfigError);
  GaussianProcess process = make();
  CHECK_THROWS_AS(process.condition(FeatureMatrix(2), std::vector<double>{1.0}), ConfigError);
}

TEST_CASE("GaussianProcess: before any data it is the prior") {
  const double x[] = {0.1, 0.2};
  const Prediction prior = make().predict(x);
  CHECK(prior.mean == 0);
  CHECK(make().mean(x) == 0);
  CHECK(prior.variance == 1);
}
