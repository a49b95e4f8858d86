// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernelsearch/model/feature_matrix.hpp"

namespace kernelsearch {

/// Gaussian prior of the logarithm of a length scale.
struct LengthPrior {
  double mean = 0.0;
  double sd = 1.0;
};

struct GaussianProcessOptions {
  std::vector<LengthPrior> lengths = {};    ///< one for each length scale
  std::vector<std::size_t> length_of = {};  ///< feature -> its length scale; empty: feature i has scale i
  LengthPrior log_noise = {-4.605, 1.5};    ///< of the noise variance, as a share of the signal variance
  std::size_t steps = 4;                    ///< of the optimiser at each fit
};

/// What a Gaussian process says of a point.
struct Prediction {
  double mean = 0.0;
  double variance = 0.0;  ///< of the function, without the noise of an observation
};

/// A Gaussian process with a Matérn-5/2 kernel and one length scale for each group of features (Rasmussen
/// and Williams, 2006, chapters 2, 4 and 5). The signal variance is integrated out in closed form; length
/// scales and noise are the most probable under their priors, found by a few steps of Rprop (Riedmiller and
/// Braun, 1993) from the last optimum, so that refitting after every observation is cheap. Targets should
/// have mean 0 and variance 1, features lie in [0, 1].
class GaussianProcess {
 public:
  explicit GaussianProcess(GaussianProcessOptions options);
  GaussianProcess(GaussianProcess&&) noexcept;
  GaussianProcess& operator=(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  /// Moves length scales and noise towards the most probable ones for these observations. `known` is a
  /// covariance that the observations share beyond the kernel's (row-major, n by n, in units of the signal
  /// variance), such as that of a linear term; empty: none. Time O(steps n^2 (n + features)).
  void fit(const FeatureMatrix& points, std::span<const double> targets, std::span<const double> known = {});

  /// Takes these observations as the data to predict from. ConfigError where sizes differ.
  void condition(const FeatureMatrix& points, std::span<const double> targets);

  /// The posterior at a point: the prior, before any condition().
  [[nodiscard]] Prediction predict(std::span<const double> point) const;
  /// Its mean alone, which needs no triangular solve: O(n features) instead of O(n (n + features)).
  [[nodiscard]] double mean(std::span<const double> point) const;

  /// Length scale of each group.
  [[nodiscard]] std::vector<double> lengths() const;
  /// Length scale of a feature.
  [[nodiscard]] double length_of(std::size_t feature) const;
  /// Noise variance as a share of the signal variance.
  [[nodiscard]] double noise() const;

 private:
  GaussianProcessOptions options_;
  std::vector<double> theta_;  ///< logarithms of the length scales, then of the noise
  struct Posterior;
  std::unique_ptr<Posterior> posterior_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/gaussian_process_impl.hpp"
#endif
