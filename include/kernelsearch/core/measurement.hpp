// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// A confidence interval, by default at 95 %.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Why sampling of a shape ended.
enum class SamplingEnd : std::uint8_t {
  converged,  ///< the interval of the median became tight enough
  budget,     ///< time or sample budget ran out first
  slower,     ///< stopped early: surely slower than the incumbent
  recorded,   ///< taken from a recording, as many samples as it had
};

[[nodiscard]] constexpr std::string_view to_string(SamplingEnd end) noexcept {
  constexpr std::string_view names[] = {"converged", "budget", "slower", "recorded"};
  return names[static_cast<int>(end)];
}

/// Reference time divided by candidate time, both measured in one run in interleaved pairs.
struct Speedup {
  double ratio = 0.0;
  Interval interval;
  std::uint32_t pairs = 0;
};

/// The timing of one input shape. All times in seconds per call.
struct ShapeMeasurement {
  std::string shape;
  double weight = 1.0;
  std::vector<double> samples;
  double median = 0.0;
  double spread = 0.0;  ///< median absolute deviation divided by the median
  Interval interval;    ///< of the median
  SamplingEnd ended = SamplingEnd::converged;
  std::optional<Speedup> speedup;  ///< against the reference, where it was measured
};

/// What was measured of a right candidate; `seconds` aggregates the shapes as the evaluator was told.
struct Measurement {
  double seconds = std::numeric_limits<double>::infinity();
  double spread = 0.0;
  Interval interval;
  std::optional<Speedup> speedup;
  std::vector<ShapeMeasurement> shapes;
};

}  // namespace kernelsearch
