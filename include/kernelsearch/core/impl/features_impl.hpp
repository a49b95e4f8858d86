// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {
namespace detail {

[[nodiscard]] inline bool feature_before(const std::pair<std::string, double>& entry, std::string_view name) {
  return entry.first < name;
}

}  // namespace detail

KERNELSEARCH_INLINE void Features::set(std::string_view name, double value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, detail::feature_before);
  if (at != entries_.end() && at->first == name)
    at->second = value;
  else
    entries_.insert(at, {std::string(name), value});
}

KERNELSEARCH_INLINE std::optional<double> Features::find(std::string_view name) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, detail::feature_before);
  if (at == entries_.end() || at->first != name) return std::nullopt;
  return at->second;
}

}  // namespace kernelsearch
