// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/sort_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/remote/remote_evaluator.hpp"

namespace kernelsearch {
namespace {

/// What one worker of a lane is, and how long it takes.
struct LaneSight {
  std::string device_id, device_name, toolchain_id, host;
  std::string failure;  ///< of the default configuration
  std::string reason;   ///< why there is nothing to see
  double seconds = std::numeric_limits<double>::infinity();
};

/// Alone, so that nothing is compared while it is looked at.
LaneSight sight_of(const Problem& problem, const RemoteOptions& all, std::size_t lane) {
  RemoteOptions options = all;
  options.lanes = {all.lanes[lane]};
  if (all.connect) options.connect = [connect = all.connect, lane](std::size_t) { return connect(lane); };
  options.say = nullptr;
  LaneSight sight;
  try {
    RemoteEvaluator worker(problem, std::move(options));
    sight.device_id = worker.device_id();
    sight.device_name = worker.device_name();
    sight.toolchain_id = worker.toolchain_id();
    EvaluationContext context;
    context.stop = all.stop;
    for (unsigned i = 0; i < std::max(1U, all.calibrations) && !all.stop.stop_requested(); ++i) {
      const Evaluation evaluation = worker.evaluate(problem.default_candidate(), context);
      if (evaluation.verdict == Verdict::ok)
        sight.seconds = std::min(sight.seconds, evaluation.measurement.seconds);
      else
        sight.failure = std::string(to_string(evaluation.verdict)) + ": " + clean_text(evaluation.reason);
    }
    sight.host = worker.reports().front().host;
  } catch (const std::exception& error) {
    sight.reason = clean_text(error.what());
  }
  return sight;
}

}  // namespace

SortedLanes sort_lanes(const Problem& problem, const RemoteOptions& options) {
  std::vector<LaneSight> sights(options.lanes.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sights.size(); ++i)
      if (!options.lanes[i].builds_only)
        threads.emplace_back([&, i] { sights[i] = sight_of(problem, options, i); });
  }
  SortedLanes sorted;
  const auto is_same_device = [](const auto& a, const auto& b) {
    return a.device_id == b.device_id && a.toolchain_id == b.toolchain_id;
  };
  for (std::size_t i = 0; i < sights.size(); ++i) {
    if (options.lanes[i].builds_only) continue;
    LaneSight& sight = sights[i];
    const std::string name = "lane " + std::to_string(i) + " (" + options.lanes[i].name + ")" +
                             (sight.host.empty() ? "" : " on " + sight.host);
    const bool is_right = std::isfinite(sight.seconds);
    if (sight.reason.empty() && !is_right && std::any_of(sights.begin(), sights.end(), [&](const auto& one) {
          return is_same_device(one, sight) && std::isfinite(one.seconds);
        }))
      sight.reason = "it fails on the default configuration, which is right on another one: " + sight.failure;
    if (!sight.reason.empty()) {
      sorted.left_out.push_back(name + ": " + sight.reason);
      continue;
    }
    const double seconds = is_right ? sight.seconds : 0;
    auto found = std::find_if(sorted.classes.begin(), sorted.classes.end(), [&](const LaneClass& one) {
      return is_same_device(one, sight) &&
             (options.tolerance <= 0 || std::abs(seconds - one.seconds) <= options.tolerance * one.seconds);
    });
    if (found == sorted.classes.end()) {
      sorted.classes.push_back({sight.device_id, sight.device_name, sight.toolchain_id, seconds, {}, {}});
      found = sorted.classes.end() - 1;
    }
    found->lanes.push_back(options.lanes[i]);
    found->names.push_back(name);
  }
  if (sorted.classes.empty()) {
    std::string reasons;
    for (const std::string& one : sorted.left_out) reasons += "\n  " + one;
    detail::raise<DeviceError>("no worker is ready that could measure",
                               reasons.empty() ? "no lane measures" : reasons,
                               "see docs/scale.md, repair one, and start again");
  }
  for (LaneClass& one : sorted.classes)
    for (const LaneLaunch& lane : options.lanes)
      if (lane.builds_only) one.lanes.push_back(lane);
  return sorted;
}

}  // namespace kernelsearch
