// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/nvml.hpp"

#include "evaluator/gpu/library.hpp"

namespace kernelsearch::detail::gpu {

std::unique_ptr<Nvml> Nvml::open(const std::string& bus, std::string& problem) {
  Library library = Library::open({"libnvidia-ml.so.1"}, problem);
  if (!library) return nullptr;
  int (*init)() = nullptr;
  int (*by_bus)(const char*, void**) = nullptr;
  auto nvml = std::make_unique<Nvml>();
  const bool all = library.find("nvmlInit_v2", init) &&
                   library.find("nvmlDeviceGetHandleByPciBusId_v2", by_bus) &&
                   library.find("nvmlDeviceGetClockInfo", nvml->clock_) &&
                   library.find("nvmlDeviceGetTemperature", nvml->temperature_) &&
                   library.find("nvmlDeviceGetPowerUsage", nvml->power_) &&
                   (library.find("nvmlDeviceGetCurrentClocksEventReasons", nvml->reasons_) ||
                    library.find("nvmlDeviceGetCurrentClocksThrottleReasons", nvml->reasons_));
  const std::string path = library.path();
  if (!all) {
    problem = path + " is too old";
    return nullptr;
  }
  library.keep();
  if (init() != 0 || by_bus(bus.c_str(), &nvml->device_) != 0) {
    problem = path + " does not know the device " + bus;
    return nullptr;
  }
  return nvml;
}

std::optional<DeviceState> Nvml::state() const {
  DeviceState state;
  unsigned milliwatts = 0;
  unsigned long long reasons = 0;
  if (clock_(device_, 1, &state.clock_mhz) != 0) return std::nullopt;  // NVML_CLOCK_SM
  (void)clock_(device_, 2, &state.memory_clock_mhz);                   // NVML_CLOCK_MEM
  (void)temperature_(device_, 0, &state.temperature);
  if (power_(device_, &milliwatts) == 0) state.watts = 1e-3 * milliwatts;
  constexpr unsigned long long slowed =
      0x8 | 0x20 | 0x40 | 0x80;  // hardware, thermal (two) and power brake slowdown
  if (reasons_(device_, &reasons) == 0) state.throttled = (reasons & slowed) != 0;
  return state;
}

}  // namespace kernelsearch::detail::gpu
