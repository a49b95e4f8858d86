// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "kernelsearch/model/impl/row_length.hpp"
#include "kernelsearch/model/impl/tree_grower.hpp"
#include "kernelsearch/model/tree_ensemble.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE TreeEnsemble TreeEnsemble::grow(const FeatureMatrix& rows,
                                                    std::span<const double> targets,
                                                    std::span<const double> weights,
                                                    const ForestOptions& options) {
  const auto refuse = [](const std::string& given, const char* todo) {
    detail::raise<ConfigError>("a forest cannot be grown from this", given, todo);
  };
  if (rows.empty() || targets.size() != rows.rows() || (!weights.empty() && weights.size() != rows.rows()))
    refuse(std::to_string(rows.rows()) + " rows, " + std::to_string(targets.size()) + " targets, " +
               std::to_string(weights.size()) + " weights",
           "give at least one row, a target for each, and a weight for each or none");
  if (options.trees == 0 || options.min_samples_leaf == 0)
    refuse("no trees or empty leaves", "ask for at least one tree and one row a leaf");
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(rows.values().begin(), rows.values().end(), finite) ||
      !std::all_of(targets.begin(), targets.end(), finite))
    refuse("a feature or target that is not finite", "leave such rows out");
  if (!weights.empty() && (!std::all_of(weights.begin(), weights.end(), [](double w) {
        return std::isfinite(w) && w >= 0;
      }) || std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; })))
    refuse("weights that are negative, not finite, or all 0", "give weights of at least 0, one above");
  return TreeGrower(rows, targets, weights, options).grow();
}

KERNELSEARCH_INLINE TreeEnsemble TreeEnsemble::of(std::size_t features, std::vector<DecisionNode> nodes,
                                                  std::vector<std::uint32_t> roots) {
  const auto refuse = [](const std::string& given, const char* todo) {
    detail::raise<ConfigError>("these nodes are not trees", given, todo);
  };
  if (roots.empty()) refuse("no roots", "give the position of one root for each tree");
  for (const std::uint32_t root : roots)
    if (root >= nodes.size())
      refuse("root " + std::to_string(root) + " of " + std::to_string(nodes.size()) + " nodes",
             "give positions of nodes");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const DecisionNode& node = nodes[i];
    if (node.feature < 0) continue;
    if (static_cast<std::size_t>(node.feature) >= features)
      refuse("feature " + std::to_string(node.feature) + " of " + std::to_string(features),
             "name features that rows have");
    if (node.left <= i || node.left + std::size_t{1} >= nodes.size())
      refuse("node " + std::to_string(i) + " with its left child at " + std::to_string(node.left),
             "put both children, the left one first, behind their parent");
  }
  TreeEnsemble ensemble;
  ensemble.features_ = features;
  ensemble.nodes_ = std::move(nodes);
  ensemble.roots_ = std::move(roots);
  return ensemble;
}

KERNELSEARCH_INLINE double TreeEnsemble::predict(std::span<const double> row) const {
  detail::require_features(row.size(), features_);
  double sum = 0;
  for (std::size_t tree = 0; tree < trees(); ++tree) sum += nodes_[leaf(row.data(), tree)].number;
  return sum / static_cast<double>(trees());
}

KERNELSEARCH_INLINE double TreeEnsemble::predict(std::span<const double> row, std::size_t tree) const {
  detail::require_features(row.size(), features_);
  return nodes_[leaf(row.data(), tree)].number;
}

KERNELSEARCH_INLINE void TreeEnsemble::predict(const FeatureMatrix& rows, std::span<double> out) const {
  detail::require_features(rows.columns(), features_);
  detail::require_features(out.size(), rows.rows());
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t tree = 0; tree < trees(); ++tree)  // tree by tree: one fits into the nearest cache
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += nodes_[leaf(rows.row(i).data(), tree)].number;
  for (double& sum : out) sum /= static_cast<double>(trees());
}

KERNELSEARCH_INLINE double TreeEnsemble::variance(std::span<const double> row) const {
  const double mean = predict(row);
  double sum = 0;
  for (std::size_t tree = 0; tree < trees(); ++tree) {
    const double off = nodes_[leaf(row.data(), tree)].number - mean;
    sum += off * off;
  }
  return sum / static_cast<double>(trees());
}

KERNELSEARCH_INLINE void TreeEnsemble::leaves(std::span<const double> row,
                                              std::span<std::uint32_t> leaves) const {
  detail::require_features(row.size(), features_);
  detail::require_features(leaves.size(), trees());
  for (std::size_t tree = 0; tree < trees(); ++tree) leaves[tree] = leaf(row.data(), tree);
}

KERNELSEARCH_INLINE std::vector<std::size_t> TreeEnsemble::path_features(std::span<const double> row,
                                                                         std::size_t tree) const {
  detail::require_features(row.size(), features_);
  std::vector<std::size_t> path;
  for (std::uint32_t at = roots_[tree]; nodes_[at].feature >= 0;) {
    const auto feature = static_cast<std::size_t>(nodes_[at].feature);
    if (std::find(path.begin(), path.end(), feature) == path.end()) path.push_back(feature);
    at = nodes_[at].left + (row[feature] <= nodes_[at].number ? 0U : 1U);
  }
  return path;
}

KERNELSEARCH_INLINE double leaf_similarity(std::span<const std::uint32_t> a,
                                           std::span<const std::uint32_t> b) {
  detail::require_features(b.size(), a.size());
  std::size_t shared = 0;
  for (std::size_t tree = 0; tree < a.size(); ++tree) shared += a[tree] == b[tree] ? 1 : 0;
  return a.empty() ? 0.0 : static_cast<double>(shared) / static_cast<double>(a.size());
}

}  // namespace kernelsearch
