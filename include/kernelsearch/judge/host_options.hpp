// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/process/sandbox.hpp"

namespace kernelsearch {

/// Beyond these a candidate or its compiler is stopped.
struct HostLimits {
  double build_seconds = 60.0;
  double load_seconds = 10.0;
  double call_seconds = 10.0;  ///< of one call
  double run_seconds = 120.0;  ///< of everything done with one candidate
  std::uint64_t build_memory = std::uint64_t{4} << 30;
  std::uint64_t run_memory = std::uint64_t{2} << 30;  ///< address space besides the buffers
};

/// How the host evaluator works.
struct HostOptions {
  Sandbox sandbox = Sandbox::automatic;
  CacheMode cache = CacheMode::warm;
  int core = -1;                            ///< to measure on; -1: the last we may use
  WaitTeller waits = nullptr;               ///< hears when another process measures on the core
  WaitTeller notes = nullptr;               ///< hears once what about the problem cannot be checked
  std::filesystem::path cache_directory{};  ///< of compiled kernels; empty: `$XDG_CACHE_HOME/kernelsearch`
  std::filesystem::path worker{};           ///< the kernelsearch-worker program; empty: looked for
  std::vector<std::filesystem::path>
      readable{};  ///< folders outside of /usr that compilers and kernels may read
  std::uint64_t buffer_memory = std::uint64_t{32} << 20;  ///< shared by the sets of buffers of one shape
  HostLimits limits{};
  CheckOptions check{};
  SamplingOptions sampling{};
  PairOptions pairs{};
  /// Fresh pairs of processes for what people are told: a finalist next to the reference, and `compare`. A
  /// difference that is plain after three of them takes no more.
  std::size_t finalist_rounds = 6;
};

}  // namespace kernelsearch
