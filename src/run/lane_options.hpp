// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/remote/remote_options.hpp"
#include "kernelsearch/remote/slurm.hpp"
#include "kernelsearch/run/lane_judge.hpp"
#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch::detail {

/// How the workers of a run are started and used. `asked` is how the user wants it measured, what depends on
/// a machine left open; `slurm` has nodes for some of them, or is null.
[[nodiscard]] RemoteOptions lane_options(const RunLanes& lanes, MeasurementOptions asked, JudgeKind kind,
                                         const SlurmAllocation* slurm);

}  // namespace kernelsearch::detail
