// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace kernelsearch::detail::gpu {

/// The state of a device at one moment.
struct DeviceState {
  unsigned clock_mhz = 0, memory_clock_mhz = 0, temperature = 0;
  double watts = 0;
  bool throttled = false;  ///< slowed for heat or by the power supply; its own power limit does not count
};

/// NVIDIA's management library, loaded when the program runs; without it states are simply unknown.
class Nvml {
 public:
  /// Null with `problem` set where the library is missing or does not know the device at that bus address.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& bus, std::string& problem);

  [[nodiscard]] std::optional<DeviceState> state() const;

 private:
  void* device_ = nullptr;
  int (*clock_)(void*, int, unsigned*) = nullptr;
  int (*temperature_)(void*, int, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*reasons_)(void*, unsigned long long*) = nullptr;
};

}  // namespace kernelsearch::detail::gpu
