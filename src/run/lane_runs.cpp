// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/lane_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "kernelsearch/remote/slurm.hpp"
#include "kernelsearch/remote/sort_lanes.hpp"
#include "lane_options.hpp"

namespace kernelsearch {

RemoteOptions detail::lane_options(const RunLanes& lanes, MeasurementOptions asked, JudgeKind kind,
                                   const SlurmAllocation* slurm) {
  std::vector<LaunchPool> pools = lanes.pools;
  std::error_code error;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (slurm != nullptr)
    for (LaunchPool& pool : slurm->pools(own)) pools.push_back(std::move(pool));
  for (LaunchPool& pool : pools)
    if (pool.worker.empty()) pool.worker = lanes.worker;
  RemoteOptions options;
  options.lanes = lanes_of(pools, own, asked.devices);
  options.lanes.insert(options.lanes.end(), lanes.launched.begin(), lanes.launched.end());
  if (asked.devices.size() > 1) asked.devices.resize(1);
  options.how = lane_instructions(kind, asked);
  options.device_id = lanes.device_id;
  options.toolchain_id = lanes.toolchain_id;
  options.tolerance = lanes.tolerance;
  options.falls_behind = lanes.falls_behind;
  options.start_seconds = lanes.start_seconds;
  options.silence_seconds = lanes.silence_seconds;
  options.request_seconds = lanes.request_seconds;
  return options;
}

std::vector<LaneRun> lane_runs(const Problem& problem, RunOptions options, const std::stop_token& stop,
                               const std::function<void(const std::string&)>& say) {
  RunLanes& lanes = options.lanes;
  if (!lanes.slurm.empty()) {
    const SlurmRequest request = read_slurm_request(lanes.slurm);
    if (request.most_nodes > request.nodes)
      detail::raise<ConfigError>(
          "nodes that come later cannot be sorted into classes before", lanes.slurm,
          fmt::format("write nodes={} or nodes={}, or let lanes of another class be refused", request.nodes,
                      request.most_nodes));
    lanes.allocation = std::make_shared<SlurmAllocation>(SlurmAllocation::take(request, stop, say));
    lanes.slurm.clear();
  }
  Problem whole = problem;
  fill_generated_sizes(whole, host_options(options.measurement));
  MeasurementOptions asked = options.measurement;
  asked.cache = cache_mode(asked, problem.backend);
  RemoteOptions remote = detail::lane_options(lanes, asked, JudgeKind::plain, lanes.allocation.get());
  remote.stop = stop;
  SortedLanes sorted = sort_lanes(whole, remote);
  for (const std::string& one : sorted.left_out)
    if (say) say(one);
  lanes.pools.clear();
  std::vector<LaneRun> runs;
  for (LaneClass& found : sorted.classes) {
    LaneRun one{fmt::format("{}, {:.4g} ms: {}", found.device_name, 1e3 * found.seconds,
                            fmt::join(found.names, ", ")),
                options};
    one.options.lanes.launched = std::move(found.lanes);
    one.options.lanes.device_id = found.device_id;
    one.options.lanes.toolchain_id = found.toolchain_id;
    if (sorted.classes.size() > 1) {
      const std::size_t number = runs.size() + 1;
      one.options.name =
          fmt::format("{} class {}", options.name.empty() ? problem.name : options.name, number);
      if (!options.out.empty()) one.options.out = options.out / fmt::format("class_{}", number);
      // What the store knows of a device says nothing of which of these classes measured it.
      const auto alike =
          std::count_if(sorted.classes.begin(), sorted.classes.end(),
                        [&](const LaneClass& other) { return other.device_id == found.device_id; });
      if (alike > 1) one.options.reuse = false;
    }
    runs.push_back(std::move(one));
  }
  return runs;
}

}  // namespace kernelsearch
