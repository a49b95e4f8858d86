// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// What a method earned: the time of the kernel without it divided by the time with it, less 1, so that 0.03
/// is a kernel that needs 3 % longer without the method and a negative effect a method that does harm.
struct Attribution {
  double effect = 0.0;
  Interval interval{};     ///< of the effect, at 95 %
  bool known = false;      ///< false: there is no kernel without it, or it says nothing
  bool paired = false;     ///< both were timed in interleaved pairs
  bool essential = false;  ///< the kernel without it runs but is not right; the effect has no number then
};

/// Read off the champion and the champion without the method: from `times_parent`, `times_parent.low` and
/// `times_parent.high` where the second has them and the champion is its only parent, else from the two
/// measurements, which were made at different moments. An ablated kernel that never came to run (not
/// generated, rejected, not built, cheated) leaves the attribution unknown. For a missing one: `{}`.
[[nodiscard]] Attribution attribution_of(const Outcome& champion, const Outcome& ablated);

/// How two methods act on each other, from the kernels without the one, without the other and without both:
/// the effect of removing both, divided by the product of their own. 0: independent; negative: each does what
/// the other would do as well (or they are two halves of one method); positive: one works without the other,
/// but not neither.
[[nodiscard]] Attribution interaction_of(const Attribution& one, const Attribution& other,
                                         const Attribution& both);

/// The least effect worth calling one: half the width of the median's 95 % interval relative to it, at least
/// `least`; where there is no interval the spread of the samples takes its place.
[[nodiscard]] double noise_threshold(const Measurement& measurement, double least = 0.005);

/// The threshold to judge an attribution by: `least` of one made in pairs, whose interval holds its noise, so
/// that a champion measured at a bad moment takes nothing away; else that of the champion's measurement.
[[nodiscard]] double noise_threshold(const Attribution& attribution, const Measurement& champion,
                                     double least = 0.005);

/// Whether a method contributed.
enum class Contribution : std::uint8_t {
  yes,
  no,
  unknown,  ///< not ablated, or measured too coarsely to say: never counts as no
};

[[nodiscard]] constexpr std::string_view to_string(Contribution contribution) noexcept {
  constexpr std::string_view names[] = {"yes", "no", "unknown"};
  return names[static_cast<int>(contribution)];
}

/// Yes: the effect is above the noise and its interval above 0, or the method is essential. No: the effect is
/// not above the noise and the interval rules out twice the noise. Everything between is unknown.
[[nodiscard]] Contribution contributes(const Attribution& attribution, double noise);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/attribution_impl.hpp"
#endif
