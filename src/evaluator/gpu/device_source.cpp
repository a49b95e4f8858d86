// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/device_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "kernelsearch/evaluator/host/translation_unit.hpp"

#ifndef KERNELSEARCH_INCLUDE_PATHS
#  define KERNELSEARCH_INCLUDE_PATHS ""
#endif

namespace kernelsearch::detail::gpu {
namespace {

namespace fs = std::filesystem;

// Run-time compilers have no <cstdint>; redefining a type as itself is allowed, so kernels may bring their
// own, and hipRTC up to ROCm 6 its, which are `long long` too.
constexpr std::string_view prologue =
    "typedef signed char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\n"
    "typedef unsigned char uint8_t;\ntypedef unsigned short uint16_t;\ntypedef unsigned int uint32_t;\n"
    "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n";

void add_folder(std::vector<std::string>& options, const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  std::string option = "-I" + folder.string();
  if (std::find(options.begin(), options.end(), option) == options.end())
    options.push_back(std::move(option));
}

void add_toolkit(std::vector<std::string>& options) {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* path = std::getenv(variable); path != nullptr && *path != '\0') roots.emplace_back(path);
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back("/usr/lib/cuda");
  for (const fs::path& root : roots) {
    std::error_code error;
    if (!fs::exists(root / "include" / "cuda_fp16.h", error)) continue;
    add_folder(options, root / "include");
    add_folder(options, root / "include" / "cccl");
    return;
  }
}

}  // namespace

std::string device_source(const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  return std::string(prologue) + tunable_definitions(*candidate.kernel, candidate.config) +
         region("macros", regions.macros) + region("device", regions.device);
}

std::string reference_source(const Problem& problem, const char* real) {
  return std::string(prologue) + "typedef " + real + " real;\n" +
         region("reference", problem.reference.source);
}

std::vector<std::string> launched_kernels(const Problem& problem, const Candidate& candidate) {
  std::vector<std::string> names;
  for (const LaunchStep& step : problem.launch) {
    if (step.function.empty()) continue;
    std::string name = expand_tunables(step.function, *candidate.kernel, candidate.config);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> compile_options(const GpuDevice& device, const GpuOptions& options,
                                         const std::vector<std::string>& flags) {
  std::vector<std::string> all;
  std::string architecture = options.architecture;
  if (device.backend == GpuBackend::cuda) {
    // From Hopper on, the instructions of one generation (wgmma, setmaxnreg) need the architecture with an
    // `a`.
    if (architecture.empty())
      architecture = "sm_" + std::to_string(device.major) + std::to_string(device.minor) +
                     (device.major >= 9 ? "a" : "");
    all.push_back("--gpu-architecture=" + architecture);
  } else if (!architecture.empty()) {
    all.push_back("--offload-arch=" + architecture);
  }
  const bool standard = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-std") || flag.starts_with("--std");
  });
  if (!standard) all.emplace_back("-std=c++17");
  all.insert(all.end(), flags.begin(), flags.end());
  for (const fs::path& folder : options.include) add_folder(all, folder);
  std::istringstream ours(KERNELSEARCH_INCLUDE_PATHS);
  for (std::string folder; std::getline(ours, folder, ':');)
    if (std::error_code error; fs::exists(fs::path(folder) / "kernelsearch", error)) {
      add_folder(all, folder);
      break;
    }
  if (device.backend == GpuBackend::cuda) add_toolkit(all);
  return all;
}

}  // namespace kernelsearch::detail::gpu
