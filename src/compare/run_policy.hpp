// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "kernelsearch/compare/trace.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch::comparing {

/// A recording made ready to answer many runs at once.
struct RecordedHardware {
  explicit RecordedHardware(const Recording& of);

  const Recording* recording;
  std::shared_ptr<const Kernel> kernel;                ///< no code, the recording's space
  std::unordered_map<Config, std::uint32_t> position;  ///< of a configuration among the trials
  bool timed = false;                                  ///< whether it says what evaluations took
};

struct RunLimits {
  std::uint64_t evaluations = 0;
  std::optional<double> seconds;  ///< recorded
  std::size_t in_flight = 1;
  bool strict = false;       ///< a proposal that cannot be scored, or an early end, is a ConfigError
  bool own_process = false;  ///< of the policy: see Contestant
};

/// Where in a comparison something happened: policy, space, repeat and evaluation.
[[nodiscard]] std::string place_of(const Trace& trace);

/// Fills `trace` with what the policy does. False where `stop` cut it short. Making the policy counts as its
/// time too. What the policy throws becomes a ConfigError that names it and where it was.
[[nodiscard]] bool run_policy(const RecordedHardware& hardware,
                              const std::function<AnyPolicy<Config>()>& make, const RunLimits& limits,
                              const std::stop_token& stop, Trace& trace);

}  // namespace kernelsearch::comparing
