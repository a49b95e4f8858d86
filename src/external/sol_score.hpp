// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "module_messages.hpp"

namespace kernelsearch::external {

/// The seconds that a call needs at least on a device of these peaks: everything that it takes and gives is
/// moved once (on a device from main memory, elsewhere from the nearest level that holds it), and its
/// operations run at the peak of their type; the longer of the two. f16's peak stands for floats of 16 bits
/// and fewer. Empty where a rate that is needed is unknown.
[[nodiscard]] std::optional<double> speed_of_light(const ModuleWork& work, const DevicePeaks& peaks,
                                                   bool on_device);

/// The score S of SOL-ExecBench: 1 / (1 + (seconds - bound) / (baseline - bound)), which is 1 at the bound
/// and 0.5 at the baseline; as theirs, where the baseline is at the bound or below, 1 for what reaches the
/// bound and 0 for others. What is faster than the bound has 1.
[[nodiscard]] double sol_score(double seconds, double baseline, double bound) noexcept;

/// The mean of S over the shapes that were timed in pairs with the baseline; empty where none was.
/// `bounds`: by the problem's shapes, whose names are those of the measurement.
struct ShapeBoundSeconds {
  std::string shape;
  double seconds = 0;
};
[[nodiscard]] std::optional<double> mean_sol_score(const Measurement& over_baseline,
                                                   const std::vector<ShapeBoundSeconds>& bounds);

}  // namespace kernelsearch::external
