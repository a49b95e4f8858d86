// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/model/gaussian_process.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"
#include "kernelsearch/policy/impl/pool_posterior.hpp"
#include "kernelsearch/policy/impl/space_features.hpp"
#include "kernelsearch/policy/impl/transfer_prior.hpp"

namespace kernelsearch {

/// What a BayesianSearch knows, and the steps from there to the next proposal.
struct BayesianSearch::State {
  State(Space space, BayesianSearchOptions o)
      : options(std::move(o)),
        rng(Rng::stream(options.seed, "bayesian_search")),
        ledger(space, options.seed, options.default_first),
        features(space),
        prior(space, features, std::move(options.earlier)),
        process({features.lengths(), features.length_of()}) {}

  /// One configuration that was proposed or told.
  struct Point {
    Config config;
    double objective = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not known yet, or never will be
  };

  [[nodiscard]] std::optional<Config> next();
  void record(const Observation<Config>& observation);
  std::size_t add(const Config& config);

  [[nodiscard]] std::optional<Config> first_point();
  [[nodiscard]] std::optional<Config> from_model();
  void refit();
  void fill_pool();
  void set_targets();
  void judge_prior();
  [[nodiscard]] double mean_of(const Config& config) const;
  [[nodiscard]] Eigen::VectorXf column(const Config& config) const;
  [[nodiscard]] Eigen::MatrixXf columns(const std::vector<std::size_t>& of) const;
  [[nodiscard]] std::vector<std::size_t> best_points() const;

  BayesianSearchOptions options;
  Rng rng;
  detail::Ledger ledger;
  detail::SpaceFeatures features;
  detail::TransferPrior prior;
  GaussianProcess process;

  std::vector<Point> points;
  std::unordered_map<Config, std::size_t> index;
  std::size_t known = 0, successes = 0;

  // The model: what it was fitted on, and its posterior over the pool.
  std::size_t fitted = 0;
  bool stale = true;              ///< something was told since the last refit
  bool trust = true;              ///< the prior is worth following
  bool fitted_trust = true;       ///< and was when the model was last refitted
  std::vector<float> scale;       ///< by feature: one over the perturbed length scale
  std::vector<Config> pool;       ///< empty once proposed
  std::vector<double> expected;   ///< by pool member: the mean function
  std::vector<std::size_t> rows;  ///< of the posterior: indices of points
  std::size_t appended = 0;       ///< points that the posterior or its choice of rows has seen
  std::optional<detail::PoolPosterior> posterior;
  std::vector<double> z;     ///< by point; NaN where unknown
  std::vector<double> fail;  ///< by point: 1 where it failed
};

}  // namespace kernelsearch
