// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "kernelsearch/model/impl/matern.hpp"

namespace kernelsearch::detail {

/// The posterior of a Gaussian process over a pool of candidates, kept up to date row by row: with L L' the
/// covariance of the n points observed, V = L^-1 k(points, pool) gives mean and variance of the whole pool
/// in two passes over V, and one more point costs one more row. Points are columns; their first features are
/// divided by length scales, the last `linear` enter the covariance through their inner product.
class PoolPosterior {
 public:
  PoolPosterior(Eigen::MatrixXf points, Eigen::MatrixXf pool, Eigen::Index linear, double noise)
      : linear_(linear), noise_(noise), points_(std::move(points)), pool_(std::move(pool)) {
    rows_ = points_.cols();
    const Eigen::Index room = rows_ + std::max<Eigen::Index>(16, rows_ / 4);
    points_.conservativeResize(Eigen::NoChange, room);
    factor_.setZero(room, room);
    Eigen::MatrixXd k = covariance(points_.leftCols(rows_), points_.leftCols(rows_)).cast<double>();
    k.diagonal() = prior(points_.leftCols(rows_)).cast<double>();
    k.diagonal().array() += noise_ + gp_jitter;
    Eigen::LLT<Eigen::MatrixXd> factor(k);
    for (double more = 1e-5; factor.info() != Eigen::Success; more *= 10) {  // nearly equal points
      k.diagonal().array() += more;
      factor.compute(k);
    }
    factor_.topLeftCorner(rows_, rows_) = factor.matrixL();
    v_.resize(room, pool_.cols());
    explained_ = Eigen::VectorXf::Zero(pool_.cols());
    if (rows_ == 0) return;
    const Eigen::MatrixXf l = factor_.topLeftCorner(rows_, rows_).cast<float>();
    v_.topRows(rows_) = l.triangularView<Eigen::Lower>().solve(covariance(points_.leftCols(rows_), pool_));
    explained_ = v_.topRows(rows_).colwise().squaredNorm().transpose();
  }

  /// One more observed point.
  void append(const Eigen::VectorXf& point) {
    const Eigen::Index n = rows_;
    if (n == v_.rows()) grow();
    const Eigen::MatrixXf column = point;
    Eigen::VectorXd l(n);
    if (n > 0) {
      l = covariance(points_.leftCols(n), column).col(0).cast<double>();
      factor_.topLeftCorner(n, n).triangularView<Eigen::Lower>().solveInPlace(l);
    }
    const double own = static_cast<double>(prior(column)[0]) + noise_ + gp_jitter;
    const double d = std::sqrt(std::max(1e-9, own - l.squaredNorm()));
    v_.row(n) = covariance(column, pool_).row(0);
    if (n > 0) v_.row(n).noalias() -= l.cast<float>().transpose() * v_.topRows(n);
    v_.row(n) /= static_cast<float>(d);
    explained_ += v_.row(n).cwiseAbs2().transpose();
    factor_.row(n).head(n) = l.transpose();
    factor_(n, n) = d;
    points_.col(n) = point;
    ++rows_;
  }

  [[nodiscard]] Eigen::Index rows() const noexcept { return rows_; }

  /// L^-1 of a right-hand side; entries that are NaN are those not known yet, and count as just what is
  /// predicted there.
  [[nodiscard]] Eigen::VectorXd whiten(const Eigen::VectorXd& values) const {
    Eigen::VectorXd w(rows_);
    for (Eigen::Index i = 0; i < rows_; ++i)
      w[i] =
          std::isnan(values[i]) ? 0.0 : (values[i] - factor_.row(i).head(i).dot(w.head(i))) / factor_(i, i);
    return w;
  }

  /// Mean over the pool of what whiten() was given.
  [[nodiscard]] Eigen::VectorXf mean(const Eigen::VectorXd& whitened) const {
    return (whitened.cast<float>().transpose() * v_.topRows(rows_)).transpose();
  }

  /// Variance over the pool in units of the signal variance.
  [[nodiscard]] Eigen::VectorXf variance() const { return (prior(pool_) - explained_).cwiseMax(1e-6F); }

  [[nodiscard]] const Eigen::MatrixXf& pool() const noexcept { return pool_; }
  [[nodiscard]] auto points() const { return points_.leftCols(rows_); }

 private:
  [[nodiscard]] Eigen::MatrixXf covariance(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) const {
    if (linear_ == 0) return matern52<float>(a, b);
    const Eigen::Index smooth = a.rows() - linear_;
    Eigen::MatrixXf k = matern52<float>(a.topRows(smooth), b.topRows(smooth));
    k.noalias() += a.bottomRows(linear_).transpose() * b.bottomRows(linear_);
    return k;
  }

  [[nodiscard]] Eigen::VectorXf prior(const Eigen::MatrixXf& points) const {
    Eigen::VectorXf own = Eigen::VectorXf::Ones(points.cols());
    if (linear_ > 0) own += points.bottomRows(linear_).colwise().squaredNorm().transpose();
    return own;
  }

  void grow() {
    const Eigen::Index room = v_.rows() + std::max<Eigen::Index>(16, v_.rows() / 4);
    v_.conservativeResize(room, Eigen::NoChange);
    points_.conservativeResize(Eigen::NoChange, room);
    factor_.conservativeResize(room, room);
  }

  Eigen::Index linear_;
  double noise_;
  Eigen::Index rows_ = 0;
  Eigen::MatrixXf points_, pool_;
  Eigen::MatrixXd factor_;
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> v_;
  Eigen::VectorXf explained_;
};

}  // namespace kernelsearch::detail
