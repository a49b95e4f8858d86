// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/nvml.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

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
  (void)library.find("nvmlDeviceGetComputeRunningProcesses_v3", nvml->running_);
  (void)library.find("nvmlDeviceGetProcessUtilization", nvml->used_);
  (void)library.find("nvmlDeviceGetTotalEnergyConsumption", nvml->energy_);
  library.keep();
  if (init() != 0 || by_bus(bus.c_str(), &nvml->device_) != 0) {
    problem = path + " does not know the device " + bus;
    return nullptr;
  }
  return nvml;
}

std::optional<double> Nvml::joules() const {
  unsigned long long millijoules = 0;
  if (energy_ == nullptr || energy_(device_, &millijoules) != 0) return std::nullopt;
  return 1e-3 * static_cast<double>(millijoules);
}

std::optional<OtherProcesses> Nvml::others(const std::vector<pid_t>& ours, double seconds) const {
  struct Process {  // nvmlProcessInfo_t
    unsigned pid = 0;
    unsigned long long memory = 0;
    unsigned instance = 0, compute_instance = 0;
  };
  struct Sample {  // nvmlProcessUtilizationSample_t
    unsigned pid = 0;
    unsigned long long at = 0;
    unsigned multiprocessors = 0, memory = 0, encoder = 0, decoder = 0;
  };
  if (running_ == nullptr) return std::nullopt;
  const auto is_ours = [&ours](unsigned pid) {
    return std::find(ours.begin(), ours.end(), static_cast<pid_t>(pid)) != ours.end();
  };
  std::vector<Process> processes(256);
  auto count = static_cast<unsigned>(processes.size());
  if (running_(device_, &count, processes.data()) != 0) return std::nullopt;
  processes.resize(std::min<std::size_t>(count, processes.size()));
  OtherProcesses others;
  for (const Process& process : processes) others.processes += is_ours(process.pid) ? 0u : 1u;
  if (others.processes == processes.size()) return std::nullopt;
  if (used_ == nullptr) return others;
  std::vector<Sample> samples(256);
  count = static_cast<unsigned>(samples.size());
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const auto since = static_cast<unsigned long long>(now.count()) -
                     static_cast<unsigned long long>(1e6 * std::max(seconds, 0.0));
  constexpr int none_since = 6;  // NVML_ERROR_NOT_FOUND
  const int status = used_(device_, samples.data(), &count, since);
  if (status != 0 && status != none_since) return others;
  samples.resize(status == 0 ? std::min<std::size_t>(count, samples.size()) : 0);
  std::map<unsigned, std::pair<double, int>> used;  // by process: percents, and how many
  for (const Sample& sample : samples)
    if (sample.pid != 0 && !is_ours(sample.pid)) {
      used[sample.pid].first += sample.multiprocessors;
      ++used[sample.pid].second;
    }
  double percent = 0;
  for (const auto& [pid, sum] : used) percent += sum.first / sum.second;
  others.share = std::clamp(percent / 100, 0.0, 1.0);
  return others;
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
