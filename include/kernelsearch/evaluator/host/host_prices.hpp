// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What an element costs a core in vectors of one width, in seconds; 0: not measured.
struct VectorPrices {
  int bits = 0;                                 ///< 128, 256 or 512
  double exponential = 0, exponential_f64 = 0;  ///< by a polynomial of degree 5, of 11
  double division = 0, division_f64 = 0;
  double conversion = 0;  ///< from i32 to f32
  friend bool operator==(const VectorPrices&, const VectorPrices&) = default;
};

/// Those of each width that this machine has, the widest last; on x86-64 with AVX2 and FMA, else none. Each
/// is the fastest of twenty short rounds of independent operations. Measured on the thread's core, in less
/// than half a second, nothing kept.
[[nodiscard]] std::vector<VectorPrices> measure_host_prices();

/// The same, kept by machine in `cache_directory` (empty: that of host_peaks).
[[nodiscard]] std::vector<VectorPrices> host_prices(const std::filesystem::path& cache_directory = {});

/// What one call of the reference does with numbers that float.
struct CountedWork {
  std::uint64_t basic = 0;  ///< additions, multiplications and comparisons
  std::uint64_t divisions = 0;
  std::uint64_t roots = 0;         ///< square roots
  std::uint64_t exponentials = 0;  ///< exp, log, tanh, sin, pow and the like
  std::uint64_t conversions = 0;   ///< of integers that are not constant
  friend bool operator==(const CountedWork&, const CountedWork&) = default;
};

/// Counts by running the reference on a shape with a type of numbers that counts, in a sandboxed process.
/// Nothing where the reference does not compile with such a type, has sources of its own, arrays that are
/// neither whole numbers nor f32, or takes longer than `seconds`.
[[nodiscard]] std::optional<CountedWork> count_reference(const Problem& problem, const Shape& shape,
                                                         const HostOptions& host = {}, double seconds = 2.0);

/// The least seconds for that work on `threads` cores: arithmetic and exponentials share units, divisions and
/// conversions have their own, so the longest of the three counts. `f64`: in double precision. Nothing
/// without a peak.
[[nodiscard]] std::optional<double> priced_seconds(const CountedWork& work, const VectorPrices& prices,
                                                   const DevicePeaks& peaks, bool f64, int threads);

}  // namespace kernelsearch
