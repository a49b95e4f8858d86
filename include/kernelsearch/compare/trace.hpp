// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelsearch {

/// One run of one policy on one recorded space: which configurations it evaluated, in which order.
struct Trace {
  std::string space;
  std::string strategy;
  std::uint64_t repeat = 0;
  std::vector<std::uint32_t> evaluations = {};  ///< numbers of configurations in the landscape, each once
  std::vector<double> seconds = {};  ///< recorded seconds from the start to each one's end; empty: unknown
  std::optional<std::uint64_t> cap =
      {};  ///< evaluations after which the run was ended, where there was a limit
  std::optional<double> policy_seconds = {};  ///< processor time of the policy itself
  std::uint64_t dropped_repeats = 0;          ///< evaluations left out because they were repeats
  std::uint64_t dropped_unknown = 0;          ///< left out because the recording does not know them
  std::uint64_t dropped_outside = 0;          ///< of these, those that are outside the space
  bool ended_early = false;  ///< the policy had no more to propose while there was budget and space left
};

}  // namespace kernelsearch
