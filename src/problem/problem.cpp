// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernelsearch/problem/element_access.hpp"

namespace kernelsearch {

Tolerance default_tolerance(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
      return {1e-2, 1e-2};
    case ElementType::bf16:
      return {4e-2, 4e-2};
    case ElementType::f32:
      return {1e-4, 1e-4};
    case ElementType::f64:
      return {1e-10, 1e-10};
    case ElementType::c64:
      return {1e-4, 1e-4};
    // A step of the format: what rounds the other way at a tie, or from single precision, is one off.
    case ElementType::f8e4m3:
      return {0.125, 0.125};
    case ElementType::f8e5m2:
      return {0.25, 0.25};
    case ElementType::f4e2m1:
      return {0.5, 0.375};
    default:
      return {};
  }
}

Tolerance Problem::tolerance_of(ElementType type) const {
  for (const auto& [of, tolerance] : tolerances)
    if (of == type) return tolerance;
  return default_tolerance(type);
}

Tolerance Problem::tolerance_of(const Argument& argument) const {
  return argument.tolerance ? *argument.tolerance : tolerance_of(argument.named_type());
}

namespace {

/// Types whose values are so coarse that the absolute bound must fit the size of the results.
bool is_scaled(ElementType type) noexcept {
  return type == ElementType::f16 || type == ElementType::bf16 || is_small_float(type);
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> scale_sample(std::size_t count) {
  constexpr std::size_t pieces = 4, each = 2048;
  if (count <= pieces * each) return {{0, count}};
  std::vector<std::pair<std::size_t, std::size_t>> sample;
  for (std::size_t i = 0; i < pieces; ++i) sample.emplace_back((count - each) / (pieces - 1) * i, each);
  return sample;
}

Tolerance scaled_tolerance(ElementType type, Tolerance tolerance, std::span<const double> sample) noexcept {
  if (!is_scaled(type)) return tolerance;
  double squares = 0, finite = 0;
  for (const double value : sample)
    if (std::isfinite(value)) {
      squares += value * value;
      finite += 1;
    }
  const double scale = finite > 0 ? std::sqrt(squares / finite) : 0.0;
  if (!(scale > 0 && scale < 1)) return tolerance;
  const double smallest = type == ElementType::f16    ? 0x1p-24
                          : type == ElementType::bf16 ? 0x1p-133
                                                      : smallest_from(type, 0x1p-30);
  tolerance.absolute = std::min(tolerance.absolute, std::max(tolerance.absolute * scale, smallest));
  return tolerance;
}

Tolerance tolerance_for(ElementType type, Tolerance tolerance, std::span<const double> expected) {
  if (!is_scaled(type)) return tolerance;
  std::vector<double> sample;
  for (const auto& [first, count] : scale_sample(expected.size())) {
    const auto piece = expected.subspan(first, count);
    sample.insert(sample.end(), piece.begin(), piece.end());
  }
  return scaled_tolerance(type, tolerance, sample);
}

Candidate Problem::default_candidate() const {
  return {std::make_shared<const Kernel>(kernel), kernel.space.default_config()};
}

}  // namespace kernelsearch
