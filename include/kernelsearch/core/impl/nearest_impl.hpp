// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {
namespace detail {

inline char lower_case(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Optimal string alignment distance, in half steps: 2 for an edit or a swap of neighbours, letters' case
/// apart, which counts 1 where it is all that differs.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower_case(a[i - 1]) == lower_case(b[j - 1]) ? 0 : 2;
      row[j] = std::min({last[j] + 2, row[j - 1] + 2, last[j - 1] + change});
      if (i > 1 && j > 1 && lower_case(a[i - 1]) == lower_case(b[j - 2]) &&
          lower_case(a[i - 2]) == lower_case(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 2);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()] + (last[b.size()] == 0 && a != b ? 1 : 0);
}

}  // namespace detail

KERNELSEARCH_INLINE std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t longest = 128;  // no misspelling is longer, and the distance costs the product
  if (name.size() > longest) return {};
  std::string best;
  // A third of the letters may be wrong, at least one edit: the rule that command-line tools settled on.
  std::size_t limit = std::max<std::size_t>(2, 2 * name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const std::size_t distance = detail::edit_distance(name, candidate);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace kernelsearch
