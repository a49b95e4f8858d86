// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/model/tree_ensemble.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"
#include "support/fixture_tables.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

constexpr ForestOptions one_tree{.trees = 1, .max_features = all_features, .bootstrap = false};

void compare_tree(const char* targets, const char* expected, ForestOptions options, bool classes) {
  const FixtureTables tables("forest");
  const FeatureMatrix& x = tables.matrix("x");
  const TreeEnsemble tree =
      TreeEnsemble::grow(part(x, 0, 200), part(tables.numbers(targets), 0, 200), {}, options);
  const std::vector<double> theirs = tables.numbers(expected);
  for (std::size_t i = 0; i < 200; ++i) {
    const double ours = tree.predict(x.row(200 + i));
    CHECK(std::abs((classes ? (ours > 0.5 ? 1.0 : 0.0) : ours) - theirs[i]) < 1e-9);
  }
}

}  // namespace

TEST_CASE("TreeEnsemble: one tree of all features predicts what scikit-learn's decision tree does") {
  ForestOptions options = one_tree;
  SUBCASE("gini") {
    options.min_samples_leaf = 8;
    options.max_depth = 4;
    compare_tree("label", "tree_classes", options, true);
  }
  SUBCASE("entropy") {
    options.criterion = SplitCriterion::entropy;
    options.max_depth = 3;
    compare_tree("label", "tree_entropy", options, true);
  }
  SUBCASE("numbers") {
    options.min_samples_leaf = 5;
    compare_tree("y", "tree_values", options, false);
  }
}

TEST_CASE("TreeEnsemble: without limits a tree repeats what it learned from") {
  const FixtureTables tables("forest");
  const FeatureMatrix& x = tables.matrix("x");
  const std::vector<double> y = tables.numbers("y");
  const TreeEnsemble tree = TreeEnsemble::grow(x, y, {}, one_tree);
  for (std::size_t i = 0; i < x.rows(); ++i) CHECK(tree.predict(x.row(i)) == y[i]);
}

TEST_CASE("TreeEnsemble: splits exclusive or, which no first split makes purer") {
  const FeatureMatrix x(2, {0, 0, 0, 1, 1, 0, 1, 1});
  const TreeEnsemble tree = TreeEnsemble::grow(x, std::vector<double>{0, 1, 1, 0}, {}, one_tree);
  CHECK(tree.predict(x.row(0)) == 0);
  CHECK(tree.predict(x.row(1)) == 1);
  CHECK(tree.predict(x.row(2)) == 1);
  CHECK(tree.predict(x.row(3)) == 0);
}

TEST_CASE("TreeEnsemble: paths, leaves and their similarity") {
  // The first feature decides; the second only where the first is high.
  const FeatureMatrix x(3, {0, 0, 5, 0, 1, 5, 1, 0, 5, 1, 1, 5, 0, 0, 5});
  const std::vector<double> y{0, 0, 4, 9, 0};
  const TreeEnsemble tree = TreeEnsemble::grow(x, y, {}, one_tree);
  CHECK(tree.path_features(x.row(0), 0) == std::vector<std::size_t>{0});
  CHECK(tree.path_features(x.row(3), 0) == std::vector<std::size_t>{0, 1});
  std::vector<std::uint32_t> a(1), b(1), c(1);
  tree.leaves(x.row(0), a);
  tree.leaves(x.row(1), b);
  tree.leaves(x.row(3), c);
  CHECK(a == b);
  CHECK(a != c);
  CHECK(tree.leaf_value(c[0]) == 9);
  const std::vector<std::uint32_t> p{1, 2, 3, 4}, q{1, 0, 3, 9};
  CHECK(leaf_similarity(p, q) == 0.5);
  CHECK_THROWS_AS(static_cast<void>(leaf_similarity(p, a)), ConfigError);
}

TEST_CASE("TreeEnsemble: limits hold") {
  const FixtureTables tables("forest");
  ForestOptions options = one_tree;
  options.max_depth = 1;
  CHECK(TreeEnsemble::grow(tables.matrix("x"), tables.numbers("y"), {}, options).nodes() == 3);
  options.max_depth = 0;
  options.min_samples_leaf = 200;
  CHECK(TreeEnsemble::grow(tables.matrix("x"), tables.numbers("y"), {}, options).nodes() == 3);
  options.min_samples_leaf = 201;
  CHECK(TreeEnsemble::grow(tables.matrix("x"), tables.numbers("y"), {}, options).nodes() == 1);
}

TEST_CASE("TreeEnsemble: rows without weight do not count, whole weights count as repeats") {
  const FixtureTables tables("forest");
  const FeatureMatrix x = part(tables.matrix("x"), 0, 60);
  const std::vector<double> y = part(tables.numbers("y"), 0, 60);
  FeatureMatrix repeated(x.columns());
  std::vector<double> targets, weights(60);
  for (std::size_t i = 0; i < 60; ++i) {
    weights[i] = static_cast<double>(i % 3);
    for (std::size_t r = 0; r < i % 3; ++r) {
      repeated.add_row(x.row(i));
      targets.push_back(y[i]);
    }
  }
  ForestOptions options = one_tree;
  options.max_depth = 2;  // deeper nodes have so few rows that splits tie
  const TreeEnsemble a = TreeEnsemble::grow(x, y, weights, options);
  const TreeEnsemble b = TreeEnsemble::grow(repeated, targets, {}, options);
  for (std::size_t i = 0; i < 60; ++i)
    CHECK(a.predict(x.row(i)) == approx(b.predict(x.row(i))).epsilon(1e-12));
}

TEST_CASE(
    "TreeEnsemble: many rows at once are predicted as one by one, and the variance is that of the trees") {
  const FixtureTables tables("forest");
  const FeatureMatrix& x = tables.matrix("x");
  const TreeEnsemble forest = TreeEnsemble::grow(x, tables.numbers("y"), {}, {.trees = 20});
  std::vector<double> all(x.rows());
  forest.predict(x, all);
  for (std::size_t i = 0; i < x.rows(); i += 37) {
    CHECK(all[i] == forest.predict(x.row(i)));
    double sum = 0, squares = 0;
    for (std::size_t tree = 0; tree < 20; ++tree) {
      sum += forest.predict(x.row(i), tree);
      squares += forest.predict(x.row(i), tree) * forest.predict(x.row(i), tree);
    }
    CHECK(all[i] == approx(sum / 20));
    CHECK(forest.variance(x.row(i)) == approx(squares / 20 - sum * sum / 400));
  }
}

TEST_CASE("TreeEnsemble: the seed decides") {
  const FixtureTables tables("forest");
  const FeatureMatrix& x = tables.matrix("x");
  const auto grow = [&](std::uint64_t seed) {
    return TreeEnsemble::grow(x, tables.numbers("y"), {}, {.trees = 5, .seed = seed}).predict(x.row(0));
  };
  CHECK(grow(1) == grow(1));
  CHECK(grow(1) != grow(2));
}

TEST_CASE("TreeEnsemble: refuses what it cannot learn from") {
  const FeatureMatrix x(1, {1, 2});
  const std::vector<double> y{0, 1}, none{0, 0}, negative{1, -1}, infinite{0, INFINITY};
  CHECK_THROWS_AS(static_cast<void>(TreeEnsemble::grow(FeatureMatrix(1), {}, {}, {})), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(TreeEnsemble::grow(x, none, negative, {})), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(TreeEnsemble::grow(x, y, none, {})), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(TreeEnsemble::grow(x, infinite, {}, {})), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(TreeEnsemble::grow(x, y, {}, {.trees = 0})), ConfigError);
  const TreeEnsemble tree = TreeEnsemble::grow(x, y, {}, {});
  CHECK_THROWS_AS(static_cast<void>(tree.predict(std::vector<double>{1, 2})), ConfigError);
}
