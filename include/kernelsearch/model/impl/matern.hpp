// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Eigen/Core>

namespace kernelsearch::detail {

/// Added to every diagonal, so that equal points do not make a covariance singular.
inline constexpr double gp_jitter = 1e-6;

/// Matérn-5/2 covariances, a.cols() by b.cols(), of points given as columns whose features are already
/// divided by their length scales.
template <class Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> matern52(
    const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& a,
    const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>& b) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  Matrix k(a.cols(), b.cols());
  k.noalias() = Scalar(-2) * a.transpose() * b;
  const Vector a2 = a.colwise().squaredNorm().transpose();
  const Vector b2 = b.colwise().squaredNorm().transpose();
  k.colwise() += a2;
  k.rowwise() += b2.transpose();
  k = (Scalar(5) * k.cwiseMax(Scalar(0))).cwiseSqrt();
  return ((Scalar(1) + k.array() + k.array().square() / Scalar(3)) * (-k.array()).exp()).matrix();
}

}  // namespace kernelsearch::detail
