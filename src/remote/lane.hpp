// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/remote/remote_options.hpp"
#include "process/child.hpp"
#include "remote/lane_content.hpp"
#include "remote/lane_wire.hpp"

namespace kernelsearch::remote {

/// What a worker says of itself when it is ready.
struct LaneFacts {
  std::string host, architecture, version, device_class;
  std::string device_id, device_name, toolchain_id, sandbox;
  std::size_t jobs = 1;
};

/// Why a worker is no more.
struct LaneEnd {
  enum class Kind {
    left,     ///< it said goodbye, or we did
    gone,     ///< its pipe closed without one
    silent,   ///< it said nothing, or did not answer, for too long
    garbage,  ///< what it said cannot be
    refused,  ///< it does not fit, or refused us
  };
  Kind kind = Kind::gone;
  std::string reason;
};

/// An answer, or why there is none.
struct LaneAnswer {
  nlohmann::json message;
  std::string payload;
};

/// One worker from its start to its end. `pump` is called once, on a thread of its own; `ask` from any.
class Lane {
 public:
  /// Starts it by `command`. `target`: the identity of the device that a worker which only builds has to
  /// build for. ConfigError where that fails.
  Lane(const RemoteOptions& options, std::size_t index, const std::string& command, std::string target);

  /// Opens the problem, then takes what the worker says until its end. `ready` says why it does not fit;
  /// empty: it does.
  [[nodiscard]] LaneEnd pump(const ProblemContent& problem, const std::stop_token& stop,
                             const std::function<std::string(const LaneFacts&)>& ready);

  /// Asks and waits for the answer; nothing where the worker is lost. A stop is passed on.
  [[nodiscard]] std::optional<LaneAnswer> ask(nlohmann::json message, std::string_view payload,
                                              const std::stop_token& stop);

  /// Gives the worker up from outside, for what it answered.
  void give_up(LaneEnd end);

  /// A candidate for a message, with its kernel's text where the worker may not have it.
  [[nodiscard]] nlohmann::json candidate(const Candidate& candidate, KernelTexts& texts, bool with_text);

 private:
  struct Waiting {
    std::optional<LaneAnswer> answer;
    double asked = 0;
  };
  std::optional<LaneEnd> take(LaneFrame frame, const ProblemContent& problem,
                              const std::function<std::string(const LaneFacts&)>& ready);
  [[nodiscard]] LaneEnd ended(LaneEnd::Kind kind, std::string reason);

  const RemoteOptions& options_;
  std::string target_;
  detail::Child child_;  ///< the worker, or its launcher
  FrameWriter writer_;
  LaneFacts facts_;
  bool greeted_ = false, ready_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::uint64_t next_ = 1;
  std::optional<LaneEnd> over_;
  std::mutex sent_mutex_;
  std::set<std::string> sent_;  ///< kernels that the worker has
};

}  // namespace kernelsearch::remote
