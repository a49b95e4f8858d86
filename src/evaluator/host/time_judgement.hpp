// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "judge/worker_client.hpp"

namespace kernelsearch::detail {

/// Above this share of `MachineLoad::disturbance` times may be off by what others did.
inline constexpr double disturbing = 0.05;
/// A call alone may take longer than in a batch, where its start overlaps with the end of the one before: so
/// many times, and so many seconds besides.
inline constexpr double alone_margin = 1.5, alone_allowance = 1.5e-6;
/// Of two candidates: what one gains in batches, if it is more than this share and more seconds than the
/// scatter of calls that are made alone, must be there, half at least, in such calls.
inline constexpr double least_gain = 0.03, gain_allowance = 0.3e-6;
/// Shorter calls are handed out by another core as well.
inline constexpr double lockstep_call = 5e-6;

/// The fault of a candidate whose times cannot be told from faked ones: no accusation, and no verdict that is
/// kept for later runs.
[[nodiscard]] Fault not_distinguishable(const std::string& what, double disturbance);

}  // namespace kernelsearch::detail
