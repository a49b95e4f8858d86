// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

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
  return argument.tolerance ? *argument.tolerance : tolerance_of(argument.type);
}

std::vector<std::pair<std::size_t, std::size_t>> scale_sample(std::size_t count) {
  constexpr std::size_t pieces = 4, each = 2048;
  if (count <= pieces * each) return {{0, count}};
  std::vector<std::pair<std::size_t, std::size_t>> sample;
  for (std::size_t i = 0; i < pieces; ++i) sample.emplace_back((count - each) / (pieces - 1) * i, each);
  return sample;
}

Tolerance scaled_tolerance(ElementType type, Tolerance tolerance, std::span<const double> sample) noexcept {
  if (type != ElementType::f16 && type != ElementType::bf16) return tolerance;
  double squares = 0, finite = 0;
  for (const double value : sample)
    if (std::isfinite(value)) {
      squares += value * value;
      finite += 1;
    }
  const double scale = finite > 0 ? std::sqrt(squares / finite) : 0.0;
  if (!(scale > 0 && scale < 1)) return tolerance;
  const double smallest = type == ElementType::f16 ? 0x1p-24 : 0x1p-133;
  tolerance.absolute = std::min(tolerance.absolute, std::max(tolerance.absolute * scale, smallest));
  return tolerance;
}

Tolerance tolerance_for(ElementType type, Tolerance tolerance, std::span<const double> expected) {
  if (type != ElementType::f16 && type != ElementType::bf16) return tolerance;
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
