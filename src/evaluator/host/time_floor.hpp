// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/arena.hpp"
#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// What one call of a shape does at least.
struct LeastWork {
  double operations = 0;  ///< as the problem declares; 0: not declared, or not of floating numbers
  double bytes = 0;       ///< as the problem declares, else those of the outputs, which all must be written
};
[[nodiscard]] LeastWork least_work(const Problem& problem, const ShapePlan& plan);

/// Why a call that does this work cannot take only these seconds at these peaks, with the figures; nothing
/// where it can, or where the peaks are not known. Times below two thirds of what the peaks allow are
/// impossible: peaks are measured, too.
[[nodiscard]] std::optional<std::string> impossible(const LeastWork& work, double seconds,
                                                    const DevicePeaks& peaks);

/// The least times that the machine's measured peaks allow. Not thread-safe.
class TimeFloor {
 public:
  /// `cores`: all that we may use. Who measures may be kept off some of them meanwhile.
  TimeFloor(const Problem& problem, HostPeaksOptions options, std::vector<int> cores = {})
      : problem_(problem), options_(std::move(options)), cores_(std::move(cores)) {}

  /// Why a call of the shape cannot take only so long. Peaks are measured when a time first comes near them,
  /// and again before anything is said.
  [[nodiscard]] std::optional<std::string> below(const ShapePlan& plan, double seconds);

 private:
  const Problem& problem_;
  HostPeaksOptions options_;
  std::vector<int> cores_;
  std::optional<DevicePeaks> peaks_;
};

}  // namespace kernelsearch::detail
