// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "judge/worker_client.hpp"

namespace kernelsearch::detail {

/// Above this share of `MachineLoad::disturbance` times may be off by what others did.
inline constexpr double disturbing = 0.05;
/// A call alone may take longer than in a batch, where its start overlaps with the end of the one before: so
/// many times, and that many seconds besides.
inline constexpr double alone_margin = 1.5, alone_allowance = 1.5e-6;
/// For two candidates: what one gains in batches, if it is more than this share and more seconds than the
/// scatter of calls that are made alone, must be there, half at least, in such calls.
inline constexpr double least_gain = 0.03, gain_allowance = 0.3e-6;
/// Shorter calls are handed out by another core as well.
inline constexpr double lockstep_call = 5e-6;

/// How the times of two processes that were shown the same batches in the same order belong together.
enum class Pattern : std::uint8_t {
  even,    ///< neither has batches that take the time of all
  shared,  ///< the same ones are slow in both: the time follows the contents, or their order
  own,     ///< others are slow in each: what decides is not an input
};

/// `once[i]` and `again[i]`: seconds of the same batch.
[[nodiscard]] Pattern pattern_of(std::span<const double> once, std::span<const double> again);

/// Whether the mean is so far above the median that a few take the time of all: a kernel that left out most
/// of its batches would have the median of those.
[[nodiscard]] bool is_uneven(std::span<const double> seconds);

/// Seconds of one call, from what batches of one call were charged and what empty batches were that took
/// turns with them: stopping a process and letting it go takes now 5 us, now 8, for many times in a row, and
/// what takes 0.2 us between is told only by the fast ones of both.
[[nodiscard]] double lone_seconds(std::span<const double> calls, std::span<const double> empty);

/// The fault of a candidate whose times cannot be told from faked ones: no accusation, and no verdict that is
/// kept for later runs.
[[nodiscard]] Fault not_distinguishable(const std::string& what, double disturbance);

}  // namespace kernelsearch::detail
