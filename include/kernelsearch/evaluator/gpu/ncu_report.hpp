// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// One launch that Nsight Compute measured: its metrics by their own names in base units (ns, bytes, Hz, %).
struct NcuLaunch {
  std::string kernel;
  Features metrics;  ///< without those that have no number
};

/// The launches of `ncu --csv`, in the order of the report: either page (`details`: a line for each metric,
/// `raw`: one for each launch), numbers with or without thousands separators, any unit. Text around the table
/// is passed over; without a table there are none.
[[nodiscard]] std::vector<NcuLaunch> read_ncu_csv(std::string_view text);

/// Metrics that the features below are made of, for `ncu --metrics`.
[[nodiscard]] const std::vector<std::string>& ncu_metrics();

/// The launch that took longest; null without one. Launches of unknown duration come last.
[[nodiscard]] const NcuLaunch* dominant_launch(const std::vector<NcuLaunch>& launches);

/// What the dominant launch's metrics say, under names that do not change with Nsight Compute's; shares in
/// percent: l2_hit, l1_hit, dram_utilisation, sm_utilisation, l2_utilisation, l1_utilisation,
/// memory_utilisation, warp_efficiency (active threads of executed instructions), achieved_occupancy,
/// bank_conflicts (of shared-memory wavefronts), coalescing (bytes used of global sectors),
/// tensor_utilisation, fp32_utilisation, fp64_utilisation, stall_<reason> (of warps' time); and registers
/// (per thread), ipc, ncu.seconds and ncu.launches (of all launches), ncu.<metric> for every metric as it
/// came. What was not measured is absent.
[[nodiscard]] Features ncu_features(const std::vector<NcuLaunch>& launches);

}  // namespace kernelsearch
