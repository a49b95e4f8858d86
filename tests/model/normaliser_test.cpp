// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/normaliser.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/core/error.hpp"
#include "support/fixture_tables.hpp"

using namespace kernelsearch;

namespace {

template <class Normaliser>
void compare(const char* table) {
  const FixtureTables tables("normaliser");
  const FeatureMatrix& x = tables.matrix("x");
  const FeatureMatrix& expected = tables.matrix(table);
  Normaliser normaliser(x.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) normaliser.observe(x.row(i));
  CHECK(normaliser.count() == x.rows());
  for (std::size_t i = 0; i < x.rows(); ++i) {
    const std::vector<double> row = normaliser.normalise(x.row(i));
    for (std::size_t f = 0; f < row.size(); ++f) CHECK(std::abs(row[f] - expected.row(i)[f]) < 1e-9);
  }
}

}  // namespace

TEST_CASE("RunningMinMax: as scikit-learn's MinMaxScaler, constant columns 0") {
  compare<RunningMinMax>("min_max");
}

TEST_CASE("RunningZScore: as scikit-learn's StandardScaler, constant columns 0") {
  compare<RunningZScore>("z_score");
}

TEST_CASE("RunningZScore: large offsets do not cancel") {
  RunningZScore normaliser(1);
  for (const double x : {1e9 + 1, 1e9 + 2, 1e9 + 3}) normaliser.observe(std::vector<double>{x});
  CHECK(std::abs(normaliser.deviation(0) - std::sqrt(2.0 / 3.0)) < 1e-9);
}

TEST_CASE("RunningMinMax: works in place, before any row, and refuses rows of another length") {
  RunningMinMax normaliser(2);
  std::vector<double> row{3, 4};
  CHECK(normaliser.normalise(row) == std::vector<double>{0, 0});
  normaliser.observe(std::vector<double>{1, 4});
  normaliser.observe(std::vector<double>{5, 8});
  normaliser.normalise(row, row);
  CHECK(row == std::vector<double>{0.5, 0});
  CHECK_THROWS_AS(normaliser.observe(std::vector<double>{1}), ConfigError);
}
