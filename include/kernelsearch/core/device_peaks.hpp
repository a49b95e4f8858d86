// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kernelsearch {

/// A place that data comes from.
struct MemoryLevel {
  std::string name;                                        ///< e.g. `L1`, `memory`
  double bytes = std::numeric_limits<double>::infinity();  ///< that it holds; infinity for main memory
  std::optional<double> bandwidth;  ///< bytes per second, read and written ones together; empty: unknown
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

/// How fast a device can compute and move data at best; what is empty is unknown.
struct DevicePeaks {
  std::string device;                   ///< what it is, for people
  std::string source;                   ///< where the figures come from, e.g. `measured`
  std::optional<double> f16, f32, f64;  ///< operations per second; a multiplication with addition is two
  std::vector<MemoryLevel> levels;      ///< nearest first, main memory last
  friend bool operator==(const DevicePeaks&, const DevicePeaks&) = default;
};

/// The nearest level that holds that many bytes; null where none is known to.
[[nodiscard]] inline const MemoryLevel* level_holding(const DevicePeaks& peaks, double bytes) noexcept {
  for (const MemoryLevel& level : peaks.levels)
    if (bytes <= level.bytes) return &level;
  return nullptr;
}

}  // namespace kernelsearch
