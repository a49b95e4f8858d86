// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// What can keep a kernel from running faster.
enum class Axis : std::uint8_t { compute, memory, latency };

inline constexpr std::array<Axis, 3> all_axes{Axis::compute, Axis::memory, Axis::latency};

[[nodiscard]] constexpr std::string_view to_string(Axis axis) noexcept {
  constexpr std::string_view names[] = {"compute", "memory", "latency"};
  return names[static_cast<int>(axis)];
}

/// The share of each axis' limit that a kernel leaves unused, in [0, 1]; for latency the share of time that
/// it waits. Empty: not measured, which is neither a gap nor the lack of one.
struct RooflineGaps {
  std::array<std::optional<double>, 3> values;

  [[nodiscard]] const std::optional<double>& operator[](Axis axis) const noexcept {
    return values[static_cast<std::size_t>(axis)];
  }
  [[nodiscard]] std::optional<double>& operator[](Axis axis) noexcept {
    return values[static_cast<std::size_t>(axis)];
  }
  [[nodiscard]] bool complete() const noexcept { return values[0] && values[1] && values[2]; }
  friend bool operator==(const RooflineGaps&, const RooflineGaps&) = default;
};

/// What a kernel is limited by.
enum class Bound : std::uint8_t {
  compute,
  bandwidth,
  latency,
  near_peak,  ///< all three gaps are known and small
  unknown,    ///< no gap is known
};

[[nodiscard]] constexpr std::string_view to_string(Bound bound) noexcept {
  constexpr std::string_view names[] = {"compute", "bandwidth", "latency", "near_peak", "unknown"};
  return names[static_cast<int>(bound)];
}

/// Gaps from a profile (CUDA optimisation skill V2, post 1.2; docs/roofline.md), whose features are in
/// percent: compute is 1 less the largest of tensor_utilisation, fp32_utilisation, fp64_utilisation,
/// sm_utilisation and compute_utilisation; memory 1 less dram_utilisation, else memory_utilisation; latency
/// the largest stall_<reason> of those that are waiting: not gmma, math_pipe_throttle, selected and
/// not_selected, where a unit is busy or another warp issues. What the profile lacks stays empty. Where
/// roof_utilisation or tensor_utilisation is known, no gap is larger than what the larger of them leaves: an
/// axis cannot be used more than the other one allows, and warps that wait at the roof hold nothing back; one
/// that would be is a hair smaller. Where roof_utilisation leaves less than 0.15, that is each unknown gap.
[[nodiscard]] RooflineGaps roofline_gaps(const Features& profile);

/// The gaps as the skill's published scripts have them: a metric that is missing counts as a full gap, for
/// latency as 0.5, and all as 0.5 where nothing was profiled; every stall is waiting, and no roof caps a gap.
/// Four decimals, as their files have.
[[nodiscard]] RooflineGaps roofline_gaps_as_published(const Features& profile);

/// `near_peak` only where all gaps are known and below `near`; else the axis of the largest known gap, of
/// equals compute before memory before latency, as published.
[[nodiscard]] Bound bound_of(const RooflineGaps& gaps, double near = 0.15);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/model/impl/roofline_impl.hpp"
#endif
