// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "kernelsearch/model/roofline.hpp"

namespace kernelsearch {
namespace detail {

/// A feature in percent; what is not a finite number is not known.
inline std::optional<double> share(const Features& profile, std::string_view name) {
  const auto percent = profile.find(name);
  if (!percent || !std::isfinite(*percent)) return std::nullopt;
  return *percent / 100;
}

/// Warps that could go on and do not: because a unit is busy, or another warp was first. That is a limit in
/// use, and no waiting.
inline bool is_busy(std::string_view stall) {
  constexpr std::string_view busy[] = {"stall_gmma", "stall_math_pipe_throttle", "stall_selected",
                                       "stall_not_selected"};
  return std::find(std::begin(busy), std::end(busy), stall) != std::end(busy);
}

inline void keep_larger(std::optional<double>& largest, std::optional<double> value) {
  if (value && (!largest || *value > *largest)) largest = value;
}

}  // namespace detail

KERNELSEARCH_INLINE RooflineGaps roofline_gaps(const Features& profile) {
  constexpr std::string_view computing[] = {"tensor_utilisation", "fp32_utilisation", "fp64_utilisation",
                                            "sm_utilisation", "compute_utilisation"};
  constexpr std::string_view memory[] = {"dram_utilisation", "memory_utilisation"};
  // More than all of a limit happens where the limit was measured: there is no gap then.
  const auto unused = [](double used) { return std::clamp(1 - used, 0.0, 1.0); };

  RooflineGaps gaps;
  std::optional<double> used;
  for (const std::string_view name : computing) detail::keep_larger(used, detail::share(profile, name));
  if (used) gaps[Axis::compute] = unused(*used);
  for (const std::string_view name : memory)
    if (!gaps[Axis::memory])
      if (const auto found = detail::share(profile, name)) gaps[Axis::memory] = unused(*found);
  std::optional<double> waited;
  for (const auto& [name, value] : profile)
    if (name.starts_with("stall_") && !detail::is_busy(name))
      detail::keep_larger(waited, detail::share(profile, name));
  if (waited) gaps[Axis::latency] = std::clamp(*waited, 0.0, 1.0);
  // Counted work is held against the highest clock, which tensor cores under load do not keep: a pipe that is
  // busy leaves no more than the rest of its time, whatever the clock.
  std::optional<double> roof = detail::share(profile, "roof_utilisation");
  detail::keep_larger(roof, detail::share(profile, "tensor_utilisation"));
  if (roof) {
    constexpr double hair = 1e-6;  // more than rounding, less than anybody can measure
    for (const Axis axis : all_axes)
      if (gaps[axis] && *gaps[axis] > unused(*roof) + hair) gaps[axis] = unused(*roof) * (1 - hair);
  }
  // At the roof of counted work a gap that nothing measured is at most as large as the others: on hosts,
  // which have no counters of stalls, nothing but this can end a search as near its peak.
  constexpr double near = 0.15;  // of bound_of
  const auto counted = detail::share(profile, "roof_utilisation");
  if (counted && unused(*counted) < near)
    for (const Axis axis : all_axes)
      if (!gaps[axis]) gaps[axis] = unused(*counted);
  return gaps;
}

KERNELSEARCH_INLINE RooflineGaps roofline_gaps_as_published(const Features& profile) {
  constexpr std::string_view computing[] = {"tensor_utilisation", "fp32_utilisation", "sm_utilisation",
                                            "compute_utilisation"};
  const auto rounded = [](double gap) { return std::round(std::clamp(gap, 0.0, 1.0) * 1e4) / 1e4; };
  double used = 0.0;
  bool profiled = false;
  for (const std::string_view name : computing)
    if (const auto found = detail::share(profile, name)) {
      used = std::max(used, *found);
      profiled = true;
    }
  std::optional<double> moved = detail::share(profile, "dram_utilisation");
  if (!moved) moved = detail::share(profile, "memory_utilisation");
  std::optional<double> waited;
  for (const auto& [name, value] : profile)
    if (name.starts_with("stall_")) detail::keep_larger(waited, detail::share(profile, name));
  if (!profiled && !moved && !waited) return {{0.5, 0.5, 0.5}};
  return {{rounded(1 - used), rounded(1 - moved.value_or(0.0)), rounded(waited.value_or(0.5))}};
}

KERNELSEARCH_INLINE Bound bound_of(const RooflineGaps& gaps, double near) {
  constexpr Bound bounds[] = {Bound::compute, Bound::bandwidth, Bound::latency};
  Bound bound = Bound::unknown;
  std::optional<double> largest;
  for (const Axis axis : all_axes)
    if (gaps[axis] && (!largest || *gaps[axis] > *largest)) {
      largest = gaps[axis];
      bound = bounds[static_cast<int>(axis)];
    }
  return gaps.complete() && *largest < near ? Bound::near_peak : bound;
}

}  // namespace kernelsearch
