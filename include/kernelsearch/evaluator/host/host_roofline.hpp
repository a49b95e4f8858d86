// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"

namespace kernelsearch {

/// The step for `Then` that adds the roofline's features to candidates of this evaluator: work that the
/// problem counts against the measured peaks of as many cores as it may use. Caches are taken to be as the
/// evaluator leaves them. Stalls are not known on the host, so that its latency gap stays unknown
/// (docs/roofline.md).
[[nodiscard]] CountedRoofline host_roofline(const HostEvaluator& evaluator);

}  // namespace kernelsearch
