// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/feature_matrix.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("FeatureMatrix: rows lie one after another and can be appended") {
  FeatureMatrix matrix(2, {1, 2, 3, 4});
  CHECK(matrix.rows() == 2);
  CHECK(matrix.row(1)[0] == 3);
  matrix.add_row(std::vector<double>{5, 6});
  matrix.add_row();
  matrix.row(3)[1] = 7;
  CHECK(matrix.rows() == 4);
  CHECK(std::vector<double>(matrix.values().begin(), matrix.values().end()) ==
        std::vector<double>{1, 2, 3, 4, 5, 6, 0, 7});
  matrix.clear();
  CHECK(matrix.empty());
  CHECK(matrix.columns() == 2);
}

TEST_CASE("FeatureMatrix: refuses what is no row") {
  CHECK_THROWS_AS(FeatureMatrix(0), ConfigError);
  CHECK_THROWS_AS(FeatureMatrix(2, {1, 2, 3}), ConfigError);
  FeatureMatrix matrix(2);
  CHECK_THROWS_AS(matrix.add_row(std::vector<double>{1}), ConfigError);
}
