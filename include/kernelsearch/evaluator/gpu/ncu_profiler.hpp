// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/gpu/ncu_report.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// How NcuProfiler profiles.
struct NcuOptions {
  std::filesystem::path program{};     ///< ncu; empty: KERNELSEARCH_NCU, else PATH and the toolkit's places
  std::string shape{};                 ///< by name; empty: the timed one of most weight
  std::vector<std::string> metrics{};  ///< beyond `ncu_metrics()`
  double seconds = 120.0;              ///< beyond these the profile is given up
};

/// What became of one profile.
struct NcuObservation {
  Features features;  ///< `ncu_features`; empty where there is a problem
  std::vector<NcuLaunch> launches;
  std::string problem;  ///< why there is no profile, in words; else empty
};

/// A Profiler (profiled.hpp) that runs one call of a candidate, after one to warm up, under Nsight Compute in
/// a process of its own. Clocks are left as they are; caches are emptied before each of the call's replays
/// where the evaluator times cold calls. Metrics that the chip or the version does not have are left out. One
/// profile runs at a time.
class NcuProfiler {
 public:
  /// A ConfigError where ncu is missing or the problem is not for CUDA; a DeviceError where the device is.
  explicit NcuProfiler(Problem problem, GpuOptions gpu = {}, NcuOptions options = {});
  NcuProfiler(NcuProfiler&&) noexcept;
  NcuProfiler& operator=(NcuProfiler&&) noexcept;
  ~NcuProfiler();

  /// A ConfigError where this user may not read the device's counters.
  [[nodiscard]] NcuObservation observe(const Candidate& candidate);

  /// The features of `observe`; none where it failed.
  [[nodiscard]] Features profile(const Candidate& candidate);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
