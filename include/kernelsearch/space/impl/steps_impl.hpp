// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

/// Whether `a` and `b` are the same order but for one swap.
inline bool one_swap(const Permutation& a, const Permutation& b) {
  if (a.size() != b.size()) return false;
  std::vector<std::size_t> differing;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) differing.push_back(i);
  }
  return differing.size() == 2 && a[differing[0]] == b[differing[1]] && a[differing[1]] == b[differing[0]];
}

/// Whether `value` is a positive integer power of two.
inline bool is_power_of_two(const Value& value) noexcept {
  const auto* i = std::get_if<std::int64_t>(&value);
  return i != nullptr && *i > 0 && (*i & (*i - 1)) == 0;
}

}  // namespace kernelsearch::detail
