// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/judge/machine.hpp"

namespace kernelsearch::detail {

/// Bytes of the data caches of a core, L1 to L3; 0 where there is none, or nothing is said of it.
struct CacheSizes {
  std::array<std::size_t, 3> bytes{};
};

/// As the system lists them.
[[nodiscard]] CacheSizes cache_sizes(int core, const std::filesystem::path& root = "/sys/devices/system/cpu");

/// The cores to measure on, `options.core` first, else from the last on: the first get most interrupts.
[[nodiscard]] std::vector<int> peak_cores(const HostMachine& machine, const HostPeaksOptions& options);

/// Peaks as lines of text, and back; nothing of another text.
[[nodiscard]] std::string peaks_text(const DevicePeaks& peaks);
[[nodiscard]] std::optional<DevicePeaks> read_peaks(const std::string& text);

/// For each figure the higher one: what disturbs a measurement makes it slower.
[[nodiscard]] DevicePeaks higher_peaks(DevicePeaks one, const DevicePeaks& other);

}  // namespace kernelsearch::detail
