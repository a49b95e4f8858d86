// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What the worker of a lane has been asked to judge with.
struct LaneJudge {
  AnyEvaluator evaluator;
  unsigned jobs = 1;         ///< candidates that it builds at a time
  std::string sandbox = {};  ///< that candidates run in, for people and records
};

/// How `serve_lane` works.
struct LaneServerOptions {
  /// Makes the judge of a problem, on the thread that serves, whose cores all others inherit; `how` is
  /// `RemoteOptions::how` of the controller. `target` is the identity of the device that others measure on,
  /// for a worker that only builds; empty: it measures. What it raises is the reason for which the lane is
  /// refused.
  std::function<LaneJudge(Problem problem, const std::string& how, const std::string& target)> make;
  std::string device_class = {};            ///< that this worker says it is of; see LaunchPool::device_class
  std::stop_token stop = {};                ///< asked to stop it says goodbye: the node is wanted back
  double orphan_seconds = 300;              ///< it ends where the controller says nothing for so long
  std::function<void()> leaving = nullptr;  ///< called when it begins to give up what is under way
  std::function<void(std::string_view)> log = nullptr;
};

/// Judges candidates for a controller at the other end of two descriptors, in the protocol of
/// docs/formats/lane_protocol.md, until the controller says that it is done or is gone: what is under way is
/// then given up. Returns whether the controller said goodbye.
bool serve_lane(int in, int out, const LaneServerOptions& options);

}  // namespace kernelsearch
