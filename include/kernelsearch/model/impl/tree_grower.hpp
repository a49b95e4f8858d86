// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/tree_ensemble.hpp"

namespace kernelsearch {

/// Grows the trees of one ensemble. Values are replaced once by their ranks among the distinct values of the
/// feature, so that a split is found by counting into bins, without sorting.
class TreeGrower {
 public:
  TreeGrower(const FeatureMatrix& rows, std::span<const double> targets, std::span<const double> weights,
             const ForestOptions& options)
      : rows_(rows),
        targets_(targets),
        options_(options),
        rng_(Rng::stream(options.seed, "forest")),
        n_(rows.rows()),
        codes_(rows.rows() * rows.columns()),
        distinct_(rows.columns()),
        base_(n_, 1.0),
        features_(rows.columns()) {
    if (!weights.empty()) base_.assign(weights.begin(), weights.end());
    std::iota(features_.begin(), features_.end(), std::uint32_t{0});
    std::vector<std::uint32_t> order(n_);
    std::size_t most = 0;
    for (std::size_t f = 0; f < rows.columns(); ++f) {
      std::iota(order.begin(), order.end(), std::uint32_t{0});
      std::sort(order.begin(), order.end(),
                [&](std::uint32_t a, std::uint32_t b) { return rows_.row(a)[f] < rows_.row(b)[f]; });
      for (const std::uint32_t i : order) {
        const double value = rows_.row(i)[f];
        if (distinct_[f].empty() || distinct_[f].back() < value) distinct_[f].push_back(value);
        codes_[f * n_ + i] = static_cast<std::uint32_t>(distinct_[f].size() - 1);
      }
      most = std::max(most, distinct_[f].size());
    }
    bins_.resize(most);
    present_.resize(most / 64 + 1);
    tried_ = options.max_features == sqrt_features
                 ? static_cast<std::size_t>(std::sqrt(static_cast<double>(rows.columns())))
                 : std::min(options.max_features, rows.columns());
    tried_ = std::max<std::size_t>(tried_, 1);
  }

  TreeEnsemble grow() {
    TreeEnsemble ensemble;
    ensemble.features_ = rows_.columns();
    std::vector<double> sum;
    std::vector<std::uint32_t> count;
    if (options_.out_of_bag) {
      sum.assign(n_, 0.0);
      count.assign(n_, 0);
    }
    for (std::size_t tree = 0; tree < options_.trees; ++tree) {
      draw_rows();
      grow_tree(ensemble);
      if (!options_.out_of_bag) continue;
      for (std::size_t i = 0; i < n_; ++i) {
        if (drawn_[i] > 0) continue;
        sum[i] += ensemble.nodes_[ensemble.leaf(rows_.row(i).data(), tree)].number;
        ++count[i];
      }
    }
    if (options_.out_of_bag) {
      ensemble.out_of_bag_.resize(n_);
      for (std::size_t i = 0; i < n_; ++i)
        ensemble.out_of_bag_[i] = count[i] > 0 ? sum[i] / count[i] : std::numeric_limits<double>::quiet_NaN();
    }
    return ensemble;
  }

 private:
  struct Bin {
    double weight = 0, sum = 0;
    std::uint32_t rows = 0;
  };
  struct Split {
    double score = -std::numeric_limits<double>::infinity();
    std::uint32_t feature = 0, below = 0;  // rows whose code is at most `below` go left
    double threshold = 0;
  };
  struct Sample {
    double weight, sum;  // sum: weight times target
    std::uint32_t row;
  };
  struct Open {  // a node whose rows are samples_[begin, end)
    std::uint32_t node;
    std::size_t begin, end, depth;
  };

  void draw_rows() {
    drawn_.assign(n_, options_.bootstrap ? 0U : 1U);
    for (std::size_t i = 0; options_.bootstrap && i < n_; ++i) ++drawn_[rng_.below(n_)];
    samples_.clear();
    for (std::size_t i = 0; i < n_; ++i)
      if (drawn_[i] > 0 && base_[i] > 0) add_sample(i, base_[i] * drawn_[i]);
    if (!samples_.empty()) return;
    // A draw of rows without weight only: all that have weight stand in for it.
    for (std::size_t i = 0; i < n_; ++i) {
      drawn_[i] = 1;
      if (base_[i] > 0) add_sample(i, base_[i]);
    }
  }

  void add_sample(std::size_t i, double weight) {
    samples_.push_back({weight, weight * targets_[i], static_cast<std::uint32_t>(i)});
  }

  void grow_tree(TreeEnsemble& ensemble) {
    auto& nodes = ensemble.nodes_;
    ensemble.roots_.push_back(static_cast<std::uint32_t>(nodes.size()));
    nodes.emplace_back();
    open_.assign(1, {ensemble.roots_.back(), 0, samples_.size(), 0});
    while (!open_.empty()) {
      const Open at = open_.back();
      open_.pop_back();
      const std::span<Sample> samples(samples_.data() + at.begin, at.end - at.begin);
      double weight = 0, sum = 0;
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const Sample& sample : samples) {
        weight += sample.weight;
        sum += sample.sum;
        low = std::min(low, targets_[sample.row]);
        high = std::max(high, targets_[sample.row]);
      }
      nodes[at.node].number = low == high ? low : sum / weight;
      if (low == high || samples.size() < 2 * options_.min_samples_leaf ||
          (options_.max_depth > 0 && at.depth >= options_.max_depth)) {
        continue;
      }
      const Split best = find_split(samples, weight, sum);
      if (best.score == -std::numeric_limits<double>::infinity()) continue;
      const std::uint32_t* const code = codes_.data() + best.feature * n_;
      const auto middle = std::partition(samples.begin(), samples.end(), [&](const Sample& sample) {
        return code[sample.row] <= best.below;
      });
      const std::size_t cut = at.begin + static_cast<std::size_t>(middle - samples.begin());
      const auto left = static_cast<std::uint32_t>(nodes.size());
      nodes.resize(nodes.size() + 2);
      nodes[at.node] = {best.threshold, static_cast<std::int32_t>(best.feature), left};
      open_.push_back({left + 1, cut, at.end, at.depth + 1});
      open_.push_back({left, at.begin, cut, at.depth + 1});
    }
  }

  /// The best split over features drawn without replacement; constant ones count as drawn, but at least one
  /// that varies is tried (as scikit-learn does).
  Split find_split(std::span<const Sample> samples, double weight, double sum) {
    Split best;
    bool varied = false;
    for (std::size_t drawn = 0; drawn < features_.size() && (drawn < tried_ || !varied); ++drawn) {
      std::swap(features_[drawn], features_[drawn + rng_.below(features_.size() - drawn)]);
      const std::uint32_t f = features_[drawn];
      const std::uint32_t* const codes = codes_.data() + f * n_;
      std::uint32_t low = std::numeric_limits<std::uint32_t>::max(), high = 0;
      for (const Sample& sample : samples) {
        const std::uint32_t code = codes[sample.row];
        Bin& bin = bins_[code];
        bin.weight += sample.weight;
        bin.sum += sample.sum;
        ++bin.rows;
        present_[code / 64] |= std::uint64_t{1} << (code % 64);
        low = std::min(low, code);
        high = std::max(high, code);
      }
      varied = varied || low != high;
      if (options_.criterion == SplitCriterion::variance)
        scan(f, low, high, weight, sum, samples.size(), best, variance_score);
      else
        scan(f, low, high, weight, sum, samples.size(), best, entropy_score);
    }
    return best;
  }

  // Weights times negative impurities of two sides, up to terms that no split of the node changes.
  static double variance_score(double wa, double a, double wb, double b) noexcept {
    return (a * a * wb + b * b * wa) / (wa * wb);
  }
  static double entropy_score(double wa, double a, double wb, double b) noexcept {
    const auto term = [](double part, double whole) {
      return part > 0 ? part * std::log(part / whole) : 0.0;
    };
    return term(a, wa) + term(wa - a, wa) + term(b, wb) + term(wb - b, wb);
  }

  /// Tries the boundaries between the values present, and leaves the bins empty again.
  template <class Score>
  void scan(std::uint32_t f, std::uint32_t low, std::uint32_t high, double weight, double sum,
            std::size_t rows, Split& best, Score score) {
    Bin left, last;
    std::uint32_t at = low, below = low, above = low;
    const std::size_t least = options_.min_samples_leaf;
    for (std::size_t word = low / 64; word <= high / 64; ++word) {
      for (std::uint64_t bits = std::exchange(present_[word], 0); bits != 0; bits &= bits - 1) {
        const auto code =
            static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
        const Bin bin = std::exchange(bins_[code], Bin{});
        // Between two values that have label 0 only, or 1 only, no boundary is best (Fayyad, Irani, 1992).
        const bool inside = least == 1 && ((bin.sum == 0 && last.sum == 0) ||
                                           (bin.sum == bin.weight && last.sum == last.weight));
        if (!inside && left.rows >= least && rows - left.rows >= least) {
          const double here = score(left.weight, left.sum, weight - left.weight, sum - left.sum);
          if (here > best.score) {
            best.score = here;
            below = at;
            above = code;
          }
        }
        left.weight += bin.weight;
        left.sum += bin.sum;
        left.rows += bin.rows;
        last = bin;
        at = code;
      }
    }
    if (below == above) return;
    const double a = distinct_[f][below], b = distinct_[f][above];
    best.feature = f;
    best.below = below;
    best.threshold = a / 2 + b / 2;
    if (!(best.threshold >= a && best.threshold < b)) best.threshold = a;
  }

  const FeatureMatrix& rows_;
  std::span<const double> targets_;
  const ForestOptions& options_;
  Rng rng_;
  std::size_t n_;
  std::size_t tried_ = 1;
  std::vector<std::uint32_t> codes_;           // feature after feature
  std::vector<std::vector<double>> distinct_;  // of each feature, ascending
  std::vector<double> base_;                   // the weights as given
  std::vector<std::uint32_t> drawn_, features_;
  std::vector<Sample> samples_;
  std::vector<Bin> bins_;               // by code; empty but while a feature is tried
  std::vector<std::uint64_t> present_;  // a bit for each bin
  std::vector<Open> open_;
};

}  // namespace kernelsearch
