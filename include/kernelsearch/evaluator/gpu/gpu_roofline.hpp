// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/problem/counted_roofline.hpp"

namespace kernelsearch {

/// Peaks that a device's clocks and its number of units allow (makers' architecture papers), dense, 16-bit on
/// the matrix units, the others on the vector units. What is not known of an architecture is empty, as is the
/// bandwidth of the second-level cache.
[[nodiscard]] DevicePeaks gpu_peaks(const GpuDevice& device);

/// The step for `Then` that places this evaluator's candidates by counted work where there is no profiler.
/// Put it outside of `Profiled`: what counters saw stays.
[[nodiscard]] CountedRoofline gpu_roofline(const GpuEvaluator& evaluator);

}  // namespace kernelsearch
