// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "kernelsearch/core/device_peaks.hpp"

namespace kernelsearch {

/// What is measured and where it is kept.
struct HostPeaksOptions {
  int threads = 1;                          ///< that compute and move data at once, each on a core of its own
  int core = -1;                            ///< the first of the cores; -1: the last we may use
  std::filesystem::path cache_directory{};  ///< empty: `$XDG_CACHE_HOME/kernelsearch`
  bool again = false;                       ///< measure though figures are kept, and keep the higher ones
  bool has_turn = false;                    ///< the caller has the right to measure on the cores already
};

/// The peaks of `threads` cores of this machine: multiplications with addition in the widest vectors it has,
/// in single and double precision, and streams (the faster of reading and copying) that fit half of L1, L2
/// and L3, or come from main memory. Measured on first use (less than 0.5 s for one core) and kept by
/// machine. What the processor is not known well enough for (not x86-64 or AArch64) stays unknown. A
/// ConfigError where there are fewer cores than threads, or the core is not ours.
[[nodiscard]] DevicePeaks host_peaks(const HostPeaksOptions& options = {});

/// The same, always measured, nothing kept.
[[nodiscard]] DevicePeaks measure_host_peaks(const HostPeaksOptions& options = {});

}  // namespace kernelsearch
