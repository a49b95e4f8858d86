// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/kmeans.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"
#include "support/fixture_tables.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

TEST_CASE("KMeans: as tight as scikit-learn's with as many seedings") {
  const FixtureTables tables("kmeans");
  for (const char* name : {"blobs", "flat"}) {
    const FeatureMatrix& points = tables.matrix(name);
    const std::vector<double> expected = tables.numbers(std::string(name) + "_inertia");
    const std::size_t sizes[] = {2, 3, 4, 5};
    for (std::size_t i = 0; i < 4; ++i) {
      KMeans means(points.columns(), {.clusters = sizes[i], .restarts = 10, .seed = 1});
      means.fit(points);
      CAPTURE(name);
      CAPTURE(sizes[i]);
      CHECK(means.inertia(points) <= 1.01 * expected[i]);
    }
  }
}

TEST_CASE("KMeans: centres are the means of their points, labels their nearest centres") {
  const FeatureMatrix points = FixtureTables("kmeans").matrix("blobs");
  KMeans means(points.columns(), {.clusters = 4, .iterations = 500});
  const std::vector<std::size_t> labels = means.fit(points);
  CHECK(labels == means.assign(points));
  for (std::size_t c = 0; c < 4; ++c) {
    std::vector<double> sum(points.columns());
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.rows(); ++i) {
      if (labels[i] != c) continue;
      ++count;
      for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += points.row(i)[f];
    }
    REQUIRE(count == means.counts()[c]);
    for (std::size_t f = 0; f < sum.size(); ++f)
      CHECK(std::abs(sum[f] / static_cast<double>(count) - means.centres().row(c)[f]) < 1e-9);
  }
}

TEST_CASE("KMeans: seeding on a tenth of the points costs little") {
  const FixtureTables tables("kmeans");
  const FeatureMatrix& points = tables.matrix("blobs");
  KMeans means(points.columns(), {.clusters = 5, .restarts = 10, .subsample = 0.1});
  means.fit(points);
  CHECK(means.inertia(points) <= 1.05 * tables.numbers("blobs_inertia")[3]);
}

TEST_CASE("KMeans: points added one by one found clusters, then move their centres to the mean") {
  KMeans means(1, {.clusters = 2});
  CHECK(means.add(std::vector<double>{0}) == 0);
  CHECK(means.add(std::vector<double>{0}) == 0);  // on a centre: no second cluster there
  CHECK(means.add(std::vector<double>{10}) == 1);
  CHECK(means.add(std::vector<double>{1.5}) == 0);
  CHECK(means.centres().row(0)[0] == approx(0.5));
  CHECK(means.nearest(std::vector<double>{6}) == 1);
  means.refresh(FeatureMatrix(1, {11, 12}));
  CHECK(means.centres().row(1)[0] == approx(11));
  CHECK(means.counts()[1] == 3);
  CHECK(means.counts()[0] == 3);
}

TEST_CASE("KMeans: a refresh by batches comes near a fit") {
  const FeatureMatrix points = FixtureTables("kmeans").matrix("blobs");
  KMeans whole(points.columns(), {.clusters = 5, .restarts = 10}), batches = whole;
  whole.fit(points);
  batches.fit(part(points, 0, 50));
  for (std::size_t from = 50; from < 250; from += 50) batches.refresh(part(points, from, from + 50));
  CHECK(batches.inertia(points) < 1.15 * whole.inertia(points));
}

TEST_CASE("KMeans: fewer distinct points than clusters, and none") {
  KMeans means(2, {.clusters = 3});
  CHECK(means.fit(FeatureMatrix(2)).empty());
  CHECK_THROWS_AS(static_cast<void>(means.nearest(std::vector<double>{1, 1})), ConfigError);
  const auto labels = means.fit(FeatureMatrix(2, {1, 1, 1, 1, 2, 2, 2, 2}));
  CHECK(means.centres().rows() == 2);
  CHECK(labels[0] == labels[1]);
  CHECK(labels[0] != labels[2]);
  CHECK(means.inertia(FeatureMatrix(2, {1, 1, 2, 2})) == 0);
}

TEST_CASE("KMeans: the seed decides, and options are checked") {
  const FeatureMatrix points = FixtureTables("kmeans").matrix("flat");
  KMeans a(points.columns(), {.seed = 3}), b(points.columns(), {.seed = 3});
  CHECK(a.fit(points) == b.fit(points));
  std::set<double> inertias;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    KMeans means(points.columns(), {.clusters = 8, .seed = seed});
    means.fit(points);
    inertias.insert(means.inertia(points));
  }
  CHECK(inertias.size() > 1);
  CHECK_THROWS_AS(KMeans(2, {.clusters = 0}), ConfigError);
  CHECK_THROWS_AS(KMeans(2, {.subsample = 0}), ConfigError);
  CHECK_THROWS_AS(a.fit(FeatureMatrix(7)), ConfigError);
}
