// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// The features of KernelBand's profiling vector, in its order (arXiv 2511.18868 v1; docs/profiling.md).
inline constexpr std::array<std::string_view, 9> profiling_vector_names{
    "l2_hit",    "dram_utilisation", "sm_utilisation", "warp_efficiency",   "achieved_occupancy",
    "registers", "bank_conflicts",   "coalescing",     "tensor_utilisation"};

/// The features of its hardware signature: how much of the processors, of the memory and of the second-level
/// cache is used.
inline constexpr std::array<std::string_view, 3> hardware_signature_names{
    "sm_utilisation", "dram_utilisation", "l2_utilisation"};

namespace detail {
template <std::size_t n>
std::array<std::optional<double>, n> features_in_order(const Features& features,
                                                       const std::array<std::string_view, n>& names) {
  std::array<std::optional<double>, n> values;
  for (std::size_t i = 0; i < n; ++i) values[i] = features.find(names[i]);
  return values;
}
}  // namespace detail

/// The nine values as observed, not normalised (KernelBand does that over its pool); empty where unknown.
[[nodiscard]] inline std::array<std::optional<double>, 9> profiling_vector(const Features& features) {
  return detail::features_in_order(features, profiling_vector_names);
}

/// h = [SM, DRAM, L2] in percent of the hardware's limits; empty where unknown.
[[nodiscard]] inline std::array<std::optional<double>, 3> hardware_signature(const Features& features) {
  return detail::features_in_order(features, hardware_signature_names);
}

}  // namespace kernelsearch
