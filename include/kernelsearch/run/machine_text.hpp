// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/host/host_prices.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch {

/// The machine that a problem is measured on, as far as one who writes kernels needs to know it.
struct MachineFacts {
  HostMachine host = {};                   ///< of host problems
  std::array<std::size_t, 3> caches = {};  ///< bytes of the host's L1, L2 and L3 data caches; 0: unknown
  std::optional<GpuDevice> gpu = {};       ///< of device problems; empty where there is none
  MethodDevice device = {};                ///< what processor or GPU have, e.g. `avx512`, `tma`
  DevicePeaks peaks = {};                  ///< empty: unknown
  std::string toolchain = {};              ///< compiler and version; empty: unknown
  VectorPrices prices = {};                ///< in the host's widest vectors; `bits` 0: unknown
  /// What the reference does on timed shapes, by name, where it has functions, divisions or conversions.
  std::vector<std::pair<std::string, CountedWork>> counted = {};
};

/// What is found on this machine. Peaks of the host are those kept in the cache, else measured (less than
/// half a second a core) and kept, as prices are. References are counted for two seconds. A missing GPU stays
/// empty.
[[nodiscard]] MachineFacts machine_facts(const Problem& problem, const MeasurementOptions& options,
                                         std::string toolchain = {});

/// The facts for a model: processor or GPU with its vectors, caches or memories, peaks, limits and what
/// follows of them (registers a thread at an occupancy and at the problem's launch, shared memory with and
/// without opt-in), the alignment of buffers, and what the compiler cannot include. The same bytes for the
/// same facts.
[[nodiscard]] std::string machine_text(const Problem& problem, const MachineFacts& facts);

/// The same where only the evaluator knows what it measures on, and what it says of the problem.
[[nodiscard]] std::string machine_text(const AnyEvaluator& evaluator);

}  // namespace kernelsearch
