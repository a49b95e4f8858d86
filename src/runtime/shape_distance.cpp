// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shape_distance.hpp"

#include <cmath>
#include <limits>

namespace kernelsearch::detail {

double shape_distance(std::span<const std::pair<std::string, Value>> a,
                      std::span<const std::pair<std::string, Value>> b) {
  constexpr double never = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return never;
  double sum = 0.0;
  for (const auto& [name, value] : a) {
    const Value* other = nullptr;
    for (const auto& [other_name, other_value] : b)
      if (other_name == name) other = &other_value;
    if (other == nullptr) return never;
    if (value == *other) continue;
    const std::optional<double> x = try_to_number(value), y = try_to_number(*other);
    if (!(x > 0.0) || !(y > 0.0) || value.index() == 0 || other->index() == 0) return never;
    const double step = std::log2(*x / *y);
    sum += step * step;
  }
  return std::sqrt(sum);
}

}  // namespace kernelsearch::detail
