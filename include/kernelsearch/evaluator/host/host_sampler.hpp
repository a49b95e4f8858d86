// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How HostSampler samples.
struct HostSamplerOptions {
  std::filesystem::path objdump{};  ///< empty: KERNELSEARCH_OBJDUMP, else that of the system
  std::vector<int> cores{};         ///< to run on; empty: as we may
  double seconds = 0.1;             ///< of calls that are sampled
  double interval = 2e-4;           ///< seconds from one sample to the next
  double limit = 5.0;               ///< seconds after which the program is given up
  std::uint64_t max_bytes = std::uint64_t{512} << 20;  ///< of a shape's arrays; a larger one is not sampled
  std::uint64_t seed = 0;
};

/// A Profiler (profiled.hpp) that says where a host kernel's time goes: a program of its own calls the built
/// kernel on the timed shape of most weight, a timer interrupts it, and each time it is noted which
/// instruction, or which call of a function outside of the library, was under way. No counters are needed.
/// x86-64 alone. Thread-safe.
class HostSampler {
 public:
  explicit HostSampler(Problem problem, HostOptions host = {}, HostSamplerOptions options = {});
  HostSampler(HostSampler&&) noexcept;
  HostSampler& operator=(HostSampler&&) noexcept;
  ~HostSampler();

  /// In percent of the samples: code.call.NAME.share of each function that is called, with all that it
  /// calls, where it has 1 % or more, and code.call.NAME.line where it is not in the library; code.hot_line,
  /// the line of the kernel's text with most samples, those of the functions that it calls included, and
  /// code.hot_line.share; code.hot_loop.share, the share of the loop with most samples, and that loop's
  /// code.loop.<signature> in place of those of the loop that HostCodeInspector guesses. Nothing where the
  /// candidate is made by a build command, does not build, without objdump, or where fewer than 50 samples
  /// were taken.
  [[nodiscard]] Features profile(const Candidate& candidate);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
