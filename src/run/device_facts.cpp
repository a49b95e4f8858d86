// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_facts.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {
namespace detail {

MethodDevice method_device(Backend backend, const std::vector<int>& devices) {
  MethodDevice device;
  if (backend == Backend::host) {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
      if (line.rfind("flags", 0) != 0) continue;
      std::istringstream words(line.substr(std::min(line.size(), line.find(':') + 1)));
      const std::set<std::string> flags{std::istream_iterator<std::string>(words), {}};
      for (const auto& [flag, feature] :
           {std::pair("sse2", "sse2"), std::pair("avx", "avx"), std::pair("avx2", "avx2"),
            std::pair("avx512f", "avx512"), std::pair("fma", "fma"), std::pair("f16c", "f16c")})
        if (flags.contains(flag)) device.features.emplace_back(feature);
      break;
    }
    return device;
  }
  if (backend == Backend::hip) {
    // The driver tells the family alone (9.0 is gfx900 to gfx90a), so the product's name decides.
    for (const GpuDevice& gpu : gpu_status(GpuBackend::hip).devices)
      if (!devices.empty() && gpu.ordinal == devices.front()) {
        const bool cdna2 = gpu.name.find("MI2") != std::string::npos;
        if (cdna2) device.features.emplace_back("gfx90a");
        if (cdna2 || gpu.name.find("MI1") != std::string::npos || (gpu.major == 9 && gpu.minor == 4))
          device.features.emplace_back("mfma");
      }
    return device;
  }
  if (backend != Backend::cuda) return device;
  for (const GpuDevice& gpu : gpu_status(GpuBackend::cuda).devices)
    if (!devices.empty() && gpu.ordinal == devices.front())
      device.architecture = static_cast<unsigned>(gpu.major * 10 + gpu.minor);
  device.features = features_of_architecture(device.architecture);
  return device;
}

MethodDevice method_device(const Problem& problem, const std::vector<int>& devices) {
  MethodDevice device = method_device(problem.backend, devices);
  if (has_module_reference(problem)) device.features.emplace_back("torch");
  if (is_device(problem.backend) && problem.launch.empty()) device.features.emplace_back("host_launch");
  return device;
}

void add_features(MethodDevice& device, const std::vector<std::string>& more) {
  for (const std::string& feature : more)
    if (std::find(device.features.begin(), device.features.end(), feature) == device.features.end())
      device.features.push_back(feature);
}

std::string environment_of(Backend backend, const std::string& sandbox) {
  nlohmann::json environment = nlohmann::json::object();
  if (!sandbox.empty()) environment["sandbox"] = sandbox;
  if (is_device(backend)) return json_text(environment);
  const HostMachine machine = host_machine();
  environment["cores"] = machine.cores.size();
  if (!machine.governor.empty()) environment["governor"] = machine.governor;
  return json_text(environment);
}

std::string changed_environment(const std::string& before, const std::string& now) {
  const auto governor = [](const std::string& text) {
    const nlohmann::json environment = nlohmann::json::parse(text, nullptr, false);
    const auto found = environment.find("governor");
    return found != environment.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string was = governor(before), is = governor(now);
  if (was.empty() || is.empty() || was == is) return {};
  return "the clock's governor was " + was + " and is " + is + " now: times of before and after may differ";
}

ResultDevice result_device(Backend backend, const std::string& device) {
  if (is_device(backend)) return {device};
  const HostMachine machine = host_machine();
  if (machine.id() != device) return {device};  // an evaluator of the caller's own
  return {device + (machine.governor.empty() ? "" : ", governor " + machine.governor), machine.former_id()};
}

}  // namespace detail

DevicePeaks device_peaks(const Problem& problem, int device) {
  if (problem.backend == Backend::external) return {};  // only its program knows the device
  if (problem.backend == Backend::host) return host_peaks({.threads = problem.threads});
  const auto backend = gpu_backend_of(problem.backend);
  if (!backend) return {};
  for (const GpuDevice& gpu : gpu_status(*backend).devices)
    if (gpu.ordinal == device) return gpu_peaks(gpu);
  return {};
}

}  // namespace kernelsearch
