// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/model/gaussian_process.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/impl/space_features.hpp"

namespace kernelsearch::detail {

/// How far a time lies above the best one, in units of `scale` on a logarithmic axis: linear up to 1, then
/// logarithmic, so that it matters which of two good configurations is better and not which of two bad ones.
[[nodiscard]] double excess(double time, double best, double scale);

/// What earlier runs of a space let one expect of a configuration: for each run the excess() that goes with
/// its place in that run's order, measured or, where the run did not measure it, predicted by a Gaussian
/// process of the run's own.
class TransferPrior {
 public:
  TransferPrior(const Space& space, const SpaceFeatures& features, std::vector<EarlierRun> runs);

  [[nodiscard]] std::size_t runs() const noexcept { return runs_.size(); }
  /// Unit of excess(): the runs' mean distance of the median from the best, as a logarithm.
  [[nodiscard]] double scale() const noexcept { return scale_; }
  /// Writes one number a run.
  void write(const Config& config, std::span<double> out) const;

  /// Mean of these numbers.
  [[nodiscard]] double mean(const Config& config) const;
  /// The mean() that a third of the ranked configurations stay below.
  [[nodiscard]] double promising() const {
    return ranking_.empty() ? 0.0 : mean(ranking_[ranking_.size() / 3]);
  }

  [[nodiscard]] const std::string& source(std::size_t run) const { return runs_[run].source; }
  [[nodiscard]] std::size_t outcomes(std::size_t run) const { return runs_[run].excess.size(); }
  /// Configurations that some run measured by their mean place in the runs' orders, best first.
  [[nodiscard]] const std::vector<Config>& ranking() const noexcept { return ranking_; }

 private:
  struct Run {
    std::string source;
    std::unordered_map<Config, double> excess;  ///< while being built: place in the run's order, 0 to 1
    GaussianProcess model;
  };
  void rank();
  void learn(Run& run);
  [[nodiscard]] double expect(const Run& run, const Config& config) const;

  const SpaceFeatures* features_;
  std::vector<Run> runs_;
  std::vector<Config> ranking_;
  double scale_ = 1;
};

}  // namespace kernelsearch::detail

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/transfer_prior_impl.hpp"
#endif
