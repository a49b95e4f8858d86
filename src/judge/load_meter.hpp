// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch::detail {

/// Seconds that the threads of a process were ready to run and did not, because something else had their
/// core; negative where the system does not say.
[[nodiscard]] double waited_seconds(pid_t pid, const std::filesystem::path& proc = "/proc");

/// The same of the calling thread alone.
[[nodiscard]] double waited_here();

/// The cores that share their execution units with one of `cores` and are not one of them.
[[nodiscard]] std::vector<int> sibling_cores(const std::vector<int>& cores,
                                             const std::filesystem::path& root = "/sys/devices/system/cpu");

/// What the rest of the machine did while something was measured. Each is absent where the system does not
/// say, as in some containers.
struct MachineLoad {
  std::optional<double> core;  ///< share of the time that the kernel was ready to run and others had its core
  std::optional<double> steal;     ///< share of the time that the hypervisor gave the core to another machine
  std::optional<double> sibling;   ///< share of the time that the core's siblings (SMT) were busy
  std::optional<double> runnable;  ///< processes that wanted to run, besides the one that asks
  std::optional<double> pressure;  ///< share of the time that some process waited for a core

  /// What can slow a kernel down: the largest of core, steal and sibling; 0 where nothing is known.
  [[nodiscard]] double disturbance() const noexcept;
  /// `load.core`, `load.steal`, `load.sibling`, `load.runnable`, `load.pressure`; docs/measuring.md#load.
  void set(Features& features) const;
};

/// Looks at the load from when it is made.
class LoadMeter {
 public:
  explicit LoadMeter(std::vector<int> cores, std::filesystem::path proc = "/proc",
                     std::filesystem::path sys = "/sys/devices/system/cpu");

  /// Since it was made. For what was measured meanwhile: for how long it had a core, and for how long it
  /// waited for one (`waited_seconds`); negative where that is not known.
  [[nodiscard]] MachineLoad load(double had_seconds, double waited_seconds) const;

 private:
  struct Ticks {
    double all = 0, idle = 0, steal = 0;  ///< of some cores together
  };
  struct Reading {
    std::optional<Ticks> cores, siblings;
    std::optional<double> runnable, pressure_us;
    double at = 0;
  };
  [[nodiscard]] Reading read() const;

  std::vector<int> cores_, siblings_;
  std::filesystem::path proc_;
  Reading before_;
};

}  // namespace kernelsearch::detail
