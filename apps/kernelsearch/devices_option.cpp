// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "devices_option.hpp"

#include <optional>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"

namespace kernelsearch::app {

std::vector<int> ordinals_of(const std::string& option, const std::vector<std::string>& texts,
                             const Problem& problem) {
  std::optional<GpuStatus> status;  // asked for once, and only where a platform is named
  std::vector<int> ordinals;
  for (const std::string& text : texts) {
    if (names_platform(text) && problem.backend != Backend::opencl)
      detail::raise<ConfigError>("only devices of OpenCL have platforms, and " + problem.name + " is for " +
                                     std::string(to_string(problem.backend)),
                                 option + " " + text,
                                 "give the device's number, as `kernelsearch doctor` lists it");
    if (names_platform(text) && !status) status = gpu_status(GpuBackend::opencl);
    ordinals.push_back(gpu_ordinal(text, status.value_or(GpuStatus{})));
  }
  return ordinals;
}

}  // namespace kernelsearch::app
