// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sol_score.hpp"

#include <algorithm>
#include <cstddef>

namespace kernelsearch::external {

std::optional<double> speed_of_light(const ModuleWork& work, const DevicePeaks& peaks, bool on_device) {
  if (peaks.levels.empty() || !(work.bytes > 0)) return std::nullopt;
  const MemoryLevel* level = on_device ? &peaks.levels.back() : level_holding(peaks, work.bytes);
  if (level == nullptr || !level->bandwidth || !(*level->bandwidth > 0)) return std::nullopt;
  const double moving = work.bytes / *level->bandwidth;
  if (!(work.operations > 0)) return moving;
  const std::optional<double>& peak = work.type == "f64"   ? peaks.f64
                                      : work.type == "f32" ? peaks.f32
                                                           : peaks.f16;
  const std::optional<double>& rate = peak ? peak : peaks.f32;  // as counted_peak
  if (!rate || !(*rate > 0)) return std::nullopt;
  return std::max(moving, work.operations / *rate);
}

double sol_score(double seconds, double baseline, double bound) noexcept {
  if (seconds <= bound) return 1;
  if (baseline <= bound) return 0;
  return 1 / (1 + (seconds - bound) / (baseline - bound));
}

std::optional<double> mean_sol_score(const Measurement& over_baseline,
                                     const std::vector<ShapeBoundSeconds>& bounds) {
  double sum = 0;
  std::size_t count = 0;
  for (const ShapeMeasurement& shape : over_baseline.shapes) {
    const auto bound = std::find_if(bounds.begin(), bounds.end(),
                                    [&](const ShapeBoundSeconds& one) { return one.shape == shape.shape; });
    if (bound == bounds.end() || !shape.speedup || shape.speedup->pairs == 0) continue;
    sum += sol_score(shape.median, shape.median * shape.speedup->ratio, bound->seconds);
    ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

}  // namespace kernelsearch::external
