// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/logistic_head.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/core/error.hpp"
#include "support/fixture_tables.hpp"

using namespace kernelsearch;

TEST_CASE("LogisticHead: streams as scikit-learn's SGDClassifier does, buffer by buffer") {
  const FixtureTables tables("logistic");
  const FeatureMatrix& x = tables.matrix("x");
  const std::vector<bool> y = tables.labels("y");
  const std::vector<double> expected = tables.numbers("streamed");
  LogisticHead head(x.columns());
  for (std::size_t i = 0; i < x.rows(); ++i) CHECK(head.add(x.row(i), y[i]) == ((i + 1) % 32 == 0));
  CHECK(head.buffered() == 0);
  for (std::size_t f = 0; f < x.columns(); ++f) CHECK(std::abs(head.weights()[f] - expected[f]) < 1e-9);
  CHECK(std::abs(head.bias() - expected[x.columns()]) < 1e-9);
}

TEST_CASE("LogisticHead: many passes with a small rate end at scikit-learn's optimum") {
  const FixtureTables tables("logistic");
  const FeatureMatrix& x = tables.matrix("x");
  const std::vector<double> expected = tables.numbers("optimum");
  LogisticHead head(x.columns(), {.learning_rate = 0.002});
  head.warm_up(x, tables.labels("y"), 3000);
  for (std::size_t f = 0; f < x.columns(); ++f) CHECK(std::abs(head.weights()[f] - expected[f]) < 0.02);
  CHECK(std::abs(head.bias() - expected[x.columns()]) < 0.02);
}

TEST_CASE("LogisticHead: undecided until its buffer is full, then learns what it was shown") {
  LogisticHead head(1, {.capacity = 4});
  const std::vector<double> low{-1}, high{1};
  CHECK(head.predict(high) == 0.5);
  head.add(high, true);
  head.add(low, false);
  CHECK(head.predict(high) == 0.5);
  CHECK(head.buffered() == 2);
  head.flush();
  CHECK(head.predict(high) > 0.5);
  CHECK(head.predict(low) < 0.5);
  CHECK(head.buffered() == 0);
}

TEST_CASE("LogisticHead: the penalty shrinks weights, not the bias") {
  FeatureMatrix rows(1, {1.0});
  LogisticHead free(1, {.l2 = 0}), held(1, {.l2 = 5});
  free.warm_up(rows, {true}, 200);
  held.warm_up(rows, {true}, 200);
  CHECK(held.weights()[0] < 0.5 * free.weights()[0]);
  CHECK(held.bias() > free.bias());
}

TEST_CASE("LogisticHead: refuses what it cannot learn from") {
  CHECK_THROWS_AS(LogisticHead(0), ConfigError);
  CHECK_THROWS_AS(LogisticHead(2, {.learning_rate = 0}), ConfigError);
  CHECK_THROWS_AS(LogisticHead(2, {.capacity = 0}), ConfigError);
  LogisticHead head(2);
  CHECK_THROWS_AS(head.add(std::vector<double>{1}, true), ConfigError);
  CHECK_THROWS_AS(head.warm_up(FeatureMatrix(2, {1, 2}), {}), ConfigError);
}
