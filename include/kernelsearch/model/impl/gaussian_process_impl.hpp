// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/model/gaussian_process.hpp"
#include "kernelsearch/model/impl/matern.hpp"

namespace kernelsearch {
namespace detail {

/// The negative log posterior of length scales and noise, and its gradient.
class GaussianProcessObjective {
 public:
  GaussianProcessObjective(const FeatureMatrix& points, std::span<const double> targets,
                           std::span<const double> known, const GaussianProcessOptions& options)
      : options_(options),
        targets_(
            Eigen::Map<const Eigen::VectorXd>(targets.data(), static_cast<Eigen::Index>(targets.size()))) {
    const Eigen::Index n = targets_.size();
    squares_.assign(options.lengths.size(), Eigen::MatrixXd::Zero(n, n));
    for (std::size_t f = 0; f < points.columns(); ++f) {
      Eigen::VectorXd x(n);
      for (Eigen::Index i = 0; i < n; ++i) x[i] = points.row(static_cast<std::size_t>(i))[f];
      Eigen::MatrixXd& square = squares_[options.length_of[f]];
      for (Eigen::Index j = 0; j < n; ++j) square.col(j).array() += (x.array() - x[j]).square();
    }
    known_ = known.empty() ? Eigen::MatrixXd::Zero(n, n)
                           : Eigen::MatrixXd(Eigen::Map<const Eigen::MatrixXd>(known.data(), n, n));
  }

  /// Infinity where the covariance is not positive definite.
  [[nodiscard]] double operator()(const std::vector<double>& theta, std::vector<double>& gradient) const {
    const Eigen::Index n = targets_.size();
    const std::size_t lengths = squares_.size();
    const double noise = std::exp(theta[lengths]);
    Eigen::ArrayXXd s = Eigen::ArrayXXd::Zero(n, n);
    for (std::size_t g = 0; g < lengths; ++g) s += std::exp(-2 * theta[g]) * squares_[g].array();
    s = (5 * s).sqrt();
    const Eigen::ArrayXXd decay = (-s).exp();
    Eigen::MatrixXd k = ((1 + s + s.square() / 3) * decay).matrix() + known_;
    k.diagonal().array() += noise + gp_jitter;
    const Eigen::LLT<Eigen::MatrixXd> factor(k);
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const Eigen::VectorXd alpha = factor.solve(targets_);
    const double count = static_cast<double>(n) + 2;
    const double signal = (targets_.dot(alpha) + 2) / count;
    double value = 0.5 * count * std::log(signal) + factor.matrixLLT().diagonal().array().log().sum();

    Eigen::MatrixXd w = factor.solve(Eigen::MatrixXd::Identity(n, n));
    w.noalias() -= alpha * (alpha / signal).transpose();
    const Eigen::ArrayXXd slope = w.array() * (5.0 / 3) * (1 + s) * decay;
    gradient.assign(lengths + 1, 0.0);
    for (std::size_t g = 0; g < lengths; ++g) {
      const LengthPrior& prior = options_.lengths[g];
      const double off = (theta[g] - prior.mean) / prior.sd;
      value += 0.5 * off * off;
      gradient[g] = 0.5 * std::exp(-2 * theta[g]) * (slope * squares_[g].array()).sum() + off / prior.sd;
    }
    const double off = (theta[lengths] - options_.log_noise.mean) / options_.log_noise.sd;
    value += 0.5 * off * off;
    gradient[lengths] = 0.5 * noise * w.trace() + off / options_.log_noise.sd;
    return value;
  }

 private:
  const GaussianProcessOptions& options_;
  Eigen::VectorXd targets_;
  std::vector<Eigen::MatrixXd> squares_;  ///< by length scale: squared distances of its features
  Eigen::MatrixXd known_;
};

}  // namespace detail

struct GaussianProcess::Posterior {
  /// For the point with each observation, as a share of the signal variance.
  [[nodiscard]] Eigen::VectorXd covariances(const GaussianProcess& process,
                                            std::span<const double> point) const;

  Eigen::MatrixXd points;  ///< columns, divided by the length scales
  Eigen::LLT<Eigen::MatrixXd> factor;
  Eigen::VectorXd alpha;
  double signal = 1;
};

KERNELSEARCH_INLINE GaussianProcess::GaussianProcess(GaussianProcessOptions options)
    : options_(std::move(options)) {
  if (options_.length_of.empty()) {
    options_.length_of.resize(options_.lengths.size());
    std::iota(options_.length_of.begin(), options_.length_of.end(), std::size_t{0});
  }
  for (const std::size_t length : options_.length_of)
    if (length >= options_.lengths.size())
      detail::raise<ConfigError>("a feature has a length scale that does not exist", std::to_string(length),
                                 "give as many priors in `lengths` as `length_of` names");
  for (const LengthPrior& prior : options_.lengths) theta_.push_back(prior.mean);
  theta_.push_back(options_.log_noise.mean);
}

KERNELSEARCH_INLINE GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
KERNELSEARCH_INLINE GaussianProcess& GaussianProcess::operator=(GaussianProcess&&) noexcept = default;
KERNELSEARCH_INLINE GaussianProcess::~GaussianProcess() = default;

KERNELSEARCH_INLINE void GaussianProcess::fit(const FeatureMatrix& points, std::span<const double> targets,
                                              std::span<const double> known) {
  if (targets.empty()) return;
  const detail::GaussianProcessObjective objective(points, targets, known, options_);
  constexpr double first_step = 0.15, longest = 0.6, shortest = 0.01;
  const std::size_t size = theta_.size();
  std::vector<double> theta = theta_, step(size, first_step), gradient, before(size, 0.0);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i <= options_.steps; ++i) {
    const double value = objective(theta, gradient);
    if (value < best) {
      best = value;
      theta_ = theta;
    }
    if (std::isinf(value) || i == options_.steps) break;
    for (std::size_t k = 0; k < size; ++k) {
      const double sign = gradient[k] * before[k];
      if (sign > 0) step[k] = std::min(longest, step[k] * 1.3);
      if (sign < 0) {
        step[k] = std::max(shortest, step[k] * 0.5);
        gradient[k] = 0;  // steps over a minimum are not repeated at once
      }
      if (gradient[k] != 0) theta[k] -= gradient[k] > 0 ? step[k] : -step[k];
      theta[k] = k + 1 < size ? std::clamp(theta[k], -2.5, 3.0) : std::clamp(theta[k], -9.0, -0.7);
    }
    before = gradient;
  }
}

KERNELSEARCH_INLINE void GaussianProcess::condition(const FeatureMatrix& points,
                                                    std::span<const double> targets) {
  if (points.rows() != targets.size())
    detail::raise<ConfigError>(
        "as many targets as points are needed",
        std::to_string(targets.size()) + " targets for " + std::to_string(points.rows()) + " points",
        "give one target for each row");
  auto posterior = std::make_unique<Posterior>();
  posterior->points.resize(static_cast<Eigen::Index>(options_.length_of.size()),
                           static_cast<Eigen::Index>(points.rows()));
  for (std::size_t i = 0; i < points.rows(); ++i)
    for (std::size_t f = 0; f < options_.length_of.size(); ++f)
      posterior->points(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(i)) =
          points.row(i)[f] / length_of(f);
  Eigen::MatrixXd k = detail::matern52<double>(posterior->points, posterior->points);
  k.diagonal().array() += noise() + detail::gp_jitter;
  posterior->factor.compute(k);
  const Eigen::Map<const Eigen::VectorXd> z(targets.data(), static_cast<Eigen::Index>(targets.size()));
  posterior->alpha = posterior->factor.solve(z);
  posterior->signal = (z.dot(posterior->alpha) + 2) / (static_cast<double>(targets.size()) + 2);
  posterior_ = std::move(posterior);
}

KERNELSEARCH_INLINE Eigen::VectorXd GaussianProcess::Posterior::covariances(
    const GaussianProcess& process, std::span<const double> point) const {
  Eigen::MatrixXd x(static_cast<Eigen::Index>(point.size()), 1);
  for (std::size_t f = 0; f < point.size(); ++f)
    x(static_cast<Eigen::Index>(f), 0) = point[f] / process.length_of(f);
  return detail::matern52<double>(points, x).col(0);
}

KERNELSEARCH_INLINE Prediction GaussianProcess::predict(std::span<const double> point) const {
  if (!posterior_) return {0.0, 1.0};
  const Eigen::VectorXd k = posterior_->covariances(*this, point);
  const double explained = k.dot(posterior_->factor.solve(k));
  return {k.dot(posterior_->alpha), posterior_->signal * std::max(0.0, 1 - explained)};
}

KERNELSEARCH_INLINE double GaussianProcess::mean(std::span<const double> point) const {
  return posterior_ ? posterior_->covariances(*this, point).dot(posterior_->alpha) : 0.0;
}

KERNELSEARCH_INLINE std::vector<double> GaussianProcess::lengths() const {
  std::vector<double> lengths;
  for (std::size_t g = 0; g < options_.lengths.size(); ++g) lengths.push_back(std::exp(theta_[g]));
  return lengths;
}

KERNELSEARCH_INLINE double GaussianProcess::length_of(std::size_t feature) const {
  return std::exp(theta_[options_.length_of[feature]]);
}

KERNELSEARCH_INLINE double GaussianProcess::noise() const {
  return std::exp(theta_.back());
}

}  // namespace kernelsearch
