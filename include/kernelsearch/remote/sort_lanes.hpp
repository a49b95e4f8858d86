// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/remote/remote_options.hpp"

namespace kernelsearch {

/// Lanes whose times can stand next to each other's.
struct LaneClass {
  std::string device_id, device_name, toolchain_id;
  double seconds = 0;              ///< that the default configuration takes on the first of them; 0: it fails
  std::vector<LaneLaunch> lanes;   ///< those that measure, then all that only build
  std::vector<std::string> names;  ///< of those that measure, as `lane 3 (ssh gpu3) on node7`
};

/// What sort_lanes() found.
struct SortedLanes {
  std::vector<LaneClass> classes;     ///< in the order of their first lanes; never empty
  std::vector<std::string> left_out;  ///< lanes that are of none, with the reasons
};

/// Starts a worker of each lane that measures, which judges the default configuration `calibrations` times,
/// and sorts the lanes by what it is: of a class are the same device and toolchain, and times within
/// `tolerance` of its first lane's. A lane where the default configuration fails is left out where it is
/// right on another of that device. DeviceError with the reasons of all where no worker is ready.
[[nodiscard]] SortedLanes sort_lanes(const Problem& problem, const RemoteOptions& options);

}  // namespace kernelsearch
