// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// In which state a timed call finds the caches.
struct CountedOptions {
  bool cold = false;  ///< empty: data comes from main memory however little it is
  /// A timed sample takes at least so long: shorter calls are repeated in it, each on buffers of its own, and
  /// all of these must fit a cache to come from it.
  double sample_seconds = 0.0;
};

/// What the counted work of one call needs at least on a device of these peaks.
struct ShapeBound {
  std::optional<double> operations, bytes;  ///< that the problem counts
  std::optional<double> computing, moving;  ///< seconds; empty: not counted, or no such peak is known
  const MemoryLevel* level = nullptr;       ///< of the peaks: where the data comes from

  /// The larger of both; empty where one of them is unknown.
  [[nodiscard]] std::optional<double> seconds() const noexcept {
    return computing && moving ? std::optional(*computing > *moving ? *computing : *moving) : std::nullopt;
  }
};

/// The bound of a shape. `calls` are made on buffers of their own, all of which a cache must hold for the
/// data to come from it; with `cold` it comes from main memory. A ConfigError where `operations` or `bytes`
/// cannot be evaluated.
[[nodiscard]] ShapeBound shape_bound(const Problem& problem, const Shape& shape, const DevicePeaks& peaks,
                                     bool cold, double calls = 1.0);

/// The roofline's place of a candidate from work that the problem counts (`operations`, `bytes`) and seconds
/// that were measured, over the timed shapes by their weights: operations_per_second, bytes_per_second,
/// intensity (operations per byte), and in percent of the peaks compute_utilisation, memory_utilisation,
/// roof_utilisation (of the rate that the roofline allows at the shapes' intensities) and, where all timed
/// shapes come from main memory, dram_utilisation. For the levels the nearest that holds a shape's arrays is
/// taken; memory_level is the farthest of them, counted from 1. What was not counted or has no known peak is
/// absent (docs/roofline.md).
[[nodiscard]] Features counted_features(const Problem& problem, const Measurement& measurement,
                                        const DevicePeaks& peaks, CountedOptions options = {});

/// The peak that the problem's arithmetic is measured by: of its widest floating input, else its widest
/// floating argument; f32's stands for 16-bit types where theirs is unknown. Empty where nothing floats.
[[nodiscard]] std::optional<double> counted_peak(const Problem& problem, const DevicePeaks& peaks) noexcept;

/// A step for `Then` (evaluator/then.hpp) on any backend: adds `counted_features`, but leaves alone what a
/// profiler has already observed.
struct CountedRoofline {
  Problem problem;
  DevicePeaks peaks;
  CountedOptions options{};

  void operator()(const Candidate& candidate, Evaluation& evaluation) const;
};

}  // namespace kernelsearch
