// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelsearch::detail::gpu {

/// The state of a device at one moment.
struct DeviceState {
  unsigned clock_mhz = 0, memory_clock_mhz = 0, temperature = 0;
  double watts = 0;
  bool throttled = false;  ///< slowed for heat or by the power supply; its own power limit does not count
};

/// Processes on a device that are not ours.
struct OtherProcesses {
  std::size_t processes = 0;
  std::optional<double> share;  ///< of the time that theirs ran on it; absent where the device does not say
};

/// NVIDIA's management library, loaded when the program runs; without it states are simply unknown.
class Nvml {
 public:
  /// Null with `problem` set where the library is missing or does not know the device at that bus address.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& bus, std::string& problem);

  [[nodiscard]] std::optional<DeviceState> state() const;

  /// Joules that the device used since its driver was loaded; nothing where it does not count them.
  [[nodiscard]] std::optional<double> joules() const;

  /// Who else used the device in the last `seconds`; nothing where the library cannot say, and where it names
  /// none of `ours` though they are there, as in a container that hides what they are called outside.
  [[nodiscard]] std::optional<OtherProcesses> others(const std::vector<pid_t>& ours, double seconds) const;

 private:
  void* device_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
  int (*running_)(void*, unsigned*, void*) = nullptr;
  int (*used_)(void*, void*, unsigned*, unsigned long long) = nullptr;
};

}  // namespace kernelsearch::detail::gpu
