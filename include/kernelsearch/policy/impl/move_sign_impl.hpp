// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernelsearch/policy/move_sign.hpp"

namespace kernelsearch {
namespace detail {

KERNELSEARCH_INLINE std::optional<bool> known_truth(const Expression& when, const Features& features,
                                                    const Features& others) {
  std::vector<Value> values;
  for (const std::string& name : when.names()) {
    std::optional<double> value = features.find(name);
    if (!value) value = others.find(name);
    if (!value) return std::nullopt;
    values.emplace_back(*value);
  }
  return when.try_test(values);
}

}  // namespace detail

KERNELSEARCH_INLINE SeenSigns seen_signs(std::span<const MoveSign> signs, const Features& features,
                                         const Features& problem) {
  SeenSigns seen;
  double most = 0.0, least = 0.0;
  for (const MoveSign& sign : signs) {
    if (!detail::known_truth(sign.when, features, problem).value_or(false)) continue;
    most = std::max(most, sign.worth);
    least = std::min(least, sign.worth);
    if (seen.main == nullptr || std::abs(sign.worth) > std::abs(seen.main->worth)) seen.main = &sign;
  }
  seen.worth = most + least;
  return seen;
}

}  // namespace kernelsearch
