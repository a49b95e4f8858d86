// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>

#include "evaluator/host/worker_client.hpp"
#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::detail {

/// What times say of honesty.
enum class TimeJudgement : std::uint8_t {
  honest,
  doubtful,  ///< others had so much of the machine that it cannot be told
  faked,
};

/// Above this share of `MachineLoad::disturbance` times may be off by what others did.
inline constexpr double disturbing = 0.05;
/// At most so many times longer does other work make calls, beyond the time that they wait for their core:
/// what a sibling takes of the execution units (below 2) times what refilling the caches after each switch
/// takes (below 2 for calls long enough to fill our clock).
inline constexpr double slowed_by_load = 4.0;

/// Whether a few timed calls of a batch took the time of all: `samples` in seconds per sample, `waited` for
/// how long the worker did not have its core meanwhile, which falls on a few samples and is no work of
/// theirs.
[[nodiscard]] inline bool uneven(std::span<const double> samples, double waited) {
  const double typical = median(samples) * static_cast<double>(samples.size());
  const double took = std::accumulate(samples.begin(), samples.end(), 0.0);
  return took - std::max(waited, 0.0) > 3 * typical;
}

/// Whether calls that take `each` seconds by our clock can be what the candidate claims to take: at least
/// `margin` of it.
[[nodiscard]] inline TimeJudgement judge_claim(double claimed, double each, double margin,
                                               double disturbance) {
  if (claimed >= margin * each) return TimeJudgement::honest;
  return disturbance > disturbing && slowed_by_load * claimed >= margin * each ? TimeJudgement::doubtful
                                                                               : TimeJudgement::faked;
}

/// The fault of a candidate whose times cannot be told from faked ones: no accusation, and no verdict that is
/// kept for later runs.
[[nodiscard]] Fault not_distinguishable(const std::string& what, double disturbance);

}  // namespace kernelsearch::detail
