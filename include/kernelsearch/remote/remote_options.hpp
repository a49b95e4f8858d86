// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelsearch {

/// Waits for where a worker can run, e.g. a node of a queue; called before each start of one, from a thread
/// of each lane. Returns what `{place}` stands for in its command, empty where it was asked to stop.
/// DeviceError: there will be none, and the lane is set aside.
using LanePlace = std::function<std::string(const std::stop_token&)>;

/// How workers of one kind are started.
struct LaunchPool {
  /// What a shell runs: `local`, or a prefix that the worker's command follows, or a command with `{worker}`
  /// for it; `{index}` is the number of the lane. E.g. `ssh gpu3`, `srun -N1 -n1 --gpus=1`.
  std::string launch = "local";
  std::size_t count = 1;
  std::string worker = {};        ///< the program there; empty: this one where `local`, else `kernelsearch`
  std::string device_class = {};  ///< of the pool, for people; see read_pools()
  bool builds_only = false;       ///< its workers compile, and measure nothing
  LanePlace place = nullptr;      ///< null: they can be started at once
};

/// One worker: a `LaunchPool` is as many as it counts.
struct LaneLaunch {
  std::string command;  ///< of a shell
  std::string name;     ///< for people, e.g. `ssh gpu3`
  bool builds_only = false;
  LanePlace place = nullptr;  ///< of its LaunchPool
};

/// How remote lanes are used.
struct RemoteOptions {
  std::vector<LaneLaunch> lanes;
  std::string how = {};  ///< what workers are told to judge with; they alone read it
  /// Only workers of this identity measure; empty: of that of the first one that is there.
  std::string device_id = {};
  std::string toolchain_id = {};
  std::string sandbox = {};     ///< that workers must name; empty: any
  double start_seconds = 600;   ///< until a worker that was started is ready; queues of a cluster may be long
  double silence_seconds = 30;  ///< a worker that says nothing for that long is given up
  double request_seconds = 900;  ///< and one that has not answered within these
  double backoff_seconds = 0.5;  ///< before a worker is started again; doubled with each vain start, up to 30
  unsigned vain_starts = 4;      ///< workers in a row that were lost before they did anything: set aside
  /// A failure that somebody who kills processes may have caused counts only where its worker still answers
  /// that long after it; see RemoteEvaluator.
  double settle_seconds = 0.5;
  unsigned most_losses = 8;  ///< workers that may be lost with one candidate before it gets the blame
  /// A lane whose time of the default configuration differs by more from the first lane's is set aside; 0:
  /// times are not compared.
  double tolerance = 0.02;
  unsigned calibrations = 5;  ///< measurements of it, of which the best counts, before that is said
  /// A lane that takes that many times as long for a measurement as the others do is set aside; 0: none is.
  double falls_behind = 5;
  std::function<void(const std::string&)> say = nullptr;  ///< hears of lanes that come and go; any thread
  std::stop_token stop = {};
  /// Connects to the worker of a lane in place of starting it: descriptors to read from and to write to,
  /// which are then ours. For tests, and for programs that have connections.
  std::function<std::pair<int, int>(std::size_t lane)> connect = nullptr;
};

/// What became of a lane.
struct LaneReport {
  std::string name;          ///< how it was started
  std::string host;          ///< where it ran last; empty: it never was
  std::string state;         ///< `ready`, `starting`, `set aside`
  std::string reason;        ///< why it was lost last, or set aside; empty: it never was
  std::size_t measured = 0;  ///< candidates
  std::size_t built = 0;
  std::size_t lost = 0;  ///< times that its worker was gone
};

}  // namespace kernelsearch
