// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_facts.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/run/measurement.hpp"

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
  if (backend != Backend::cuda) return device;
  for (const GpuDevice& gpu : gpu_status(GpuBackend::cuda).devices)
    if (!devices.empty() && gpu.ordinal == devices.front())
      device.architecture = static_cast<unsigned>(gpu.major * 10 + gpu.minor);
  device.features = features_of_architecture(device.architecture);
  return device;
}

}  // namespace detail

DevicePeaks device_peaks(const Problem& problem, int device) {
  if (problem.backend == Backend::host) return host_peaks({.threads = problem.threads});
  for (const GpuDevice& gpu :
       gpu_status(problem.backend == Backend::hip ? GpuBackend::hip : GpuBackend::cuda).devices)
    if (gpu.ordinal == device) return gpu_peaks(gpu);
  return {};
}

}  // namespace kernelsearch
