// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/run_options.hpp"

namespace kernelsearch {

/// The run of one class of lanes.
struct LaneRun {
  std::string about;   ///< for people: the device, what the default configuration takes, the lanes
  RunOptions options;  ///< for Run::start: with the lanes of this class and no other
};

/// A run for each class of lanes that `options.lanes` starts (see sort_lanes()), so that times which cannot
/// be compared are in no search together; taken together they have the lanes, and the nodes of Slurm, that
/// one run would have. Where there are several, the files of each are written to a folder `class_K` of
/// `options.out`, their names end with ` class K`, and runs of the same device reuse no results of each
/// other. ConfigError where lanes come later, DeviceError where no worker is ready. `say` hears what was
/// found.
[[nodiscard]] std::vector<LaneRun> lane_runs(const Problem& problem, RunOptions options,
                                             const std::stop_token& stop,
                                             const std::function<void(const std::string&)>& say);

}  // namespace kernelsearch
