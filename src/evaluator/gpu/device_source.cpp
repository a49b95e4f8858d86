// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/device_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/kept_file.hpp"
#include "evaluator/gpu/vulkan_source.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"

#ifndef KERNELSEARCH_INCLUDE_PATHS
#  define KERNELSEARCH_INCLUDE_PATHS ""
#endif

namespace kernelsearch::detail::gpu {

/// The text of kernelsearch/device/portable.hpp.
std::string_view portable_header() noexcept;

namespace {

namespace fs = std::filesystem;

// Run-time compilers have no <cstdint>; redefining a type as itself is allowed, so kernels may bring their
// own, and hipRTC up to ROCm 6 its, which are `long long` too.
// OpenCL C 1.2 has types of fixed widths under names of its own, and doubles only where asked for.
constexpr std::string_view opencl_prologue =
    "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n"
    "typedef char int8_t;\ntypedef short int16_t;\ntypedef int int32_t;\ntypedef long int64_t;\n"
    "typedef uchar uint8_t;\ntypedef ushort uint16_t;\ntypedef uint uint32_t;\ntypedef ulong uint64_t;\n";

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

/// A folder with these files, whose name is their content, where sandboxes see it.
fs::path folder_of_files(const std::vector<SourceFile>& files) {
  std::string content;
  for (const SourceFile& file : files)
    content += file.path + "\n" + std::to_string(file.text.size()) + "\n" + file.text;
  const fs::path folder = files_folder() / sha256(content);
  for (const SourceFile& file : files) {
    const fs::path path = folder / file.path;
    const auto* const bytes = reinterpret_cast<const std::byte*>(file.text.data());
    const std::vector<std::byte> text(bytes, bytes + file.text.size());
    if (read_bytes(path) == text) continue;
    keep(path, text);
    for (fs::path readable = path; readable != files_folder(); readable = readable.parent_path()) {
      std::error_code ignored;  // by those that are nobody, whatever the umask is
      fs::permissions(readable, readable == path ? fs::perms(0644) : fs::perms(0755), ignored);
    }
    if (read_bytes(path) != text)
      raise<DeviceError>("a file of the problem cannot be written for the compiler", path.string(),
                         "make room, or set TMPDIR to a folder with room");
  }
  return folder;
}

/// The folder for `#include "kernelsearch/device/portable.hpp"`: of the installation, or of the sources; else
/// one that is written, as where this program was copied to another machine.
fs::path our_headers() {
  std::istringstream ours(KERNELSEARCH_INCLUDE_PATHS);
  for (std::string folder; std::getline(ours, folder, ':');)
    if (std::error_code error; fs::exists(fs::path(folder) / "kernelsearch", error)) return folder;
  return folder_of_files({{"kernelsearch/device/portable.hpp", std::string(portable_header())}});
}

std::string_view prologue_of(const Problem& problem) {
  return problem.backend == Backend::opencl ? opencl_prologue : prologue;
}

/// OpenCL C 1.2 has no assertions that compilers check.
std::string device_layout_checks(const Problem& problem) {
  return problem.backend == Backend::opencl ? std::string() : layout_checks(problem);
}

}  // namespace

std::string device_source(const Candidate& candidate) {
  const Regions& regions = candidate.kernel->regions;
  return std::string(prologue) + tunable_definitions(*candidate.kernel, candidate.config) +
         region("macros", regions.macros) + region("device", regions.device);
}

std::string named_region(const Problem& problem, const Candidate& candidate, KernelRegion which) {
  const std::string& text = text_of(candidate.kernel->regions, which);
  const std::string& file = which == KernelRegion::device ? problem.names.device
                            : which == KernelRegion::host ? problem.names.host
                                                          : problem.names.macros;
  const bool as_read = !file.empty() && text == text_of(problem.kernel.regions, which);
  return region(as_read ? std::string_view(file) : to_string(which), text);
}

std::string device_source(const Problem& problem, const Candidate& candidate) {
  if (problem.backend == Backend::vulkan) return vulkan_source(problem, candidate);
  return std::string(prologue_of(problem)) + tunable_definitions(*candidate.kernel, candidate.config) +
         named_region(problem, candidate, KernelRegion::macros) +
         named_region(problem, candidate, KernelRegion::device) + device_layout_checks(problem);
}

std::string reference_source(const Problem& problem, const char* real) {
  if (problem.backend == Backend::vulkan) return vulkan_reference_source(problem, real);
  return std::string(prologue_of(problem)) + "typedef " + real + " real;\n" +
         region(problem.names.reference.empty() ? "reference" : problem.names.reference,
                problem.reference.source) +
         device_layout_checks(problem);
}

std::vector<std::string> launched_kernels(const Problem& problem, const Candidate& candidate) {
  std::vector<std::string> names;
  for (const LaunchStep& step : launch_of(problem, *candidate.kernel)) {
    if (step.function.empty()) continue;
    std::string name = expand_tunables(step.function, *candidate.kernel, candidate.config);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string architecture_of(const GpuDevice& device, const GpuOptions& options) {
  if (!options.architecture.empty() || device.backend != GpuBackend::cuda) return options.architecture;
  // From Hopper on, the instructions of one generation (wgmma, setmaxnreg) need the architecture with an `a`.
  return "sm_" + std::to_string(device.major) + std::to_string(device.minor) + (device.major >= 9 ? "a" : "");
}

std::vector<std::string> compile_options(const GpuDevice& device, const GpuOptions& options,
                                         const std::vector<std::string>& flags) {
  std::vector<std::string> all;
  // The driver knows its device.
  if (device.backend == GpuBackend::opencl || device.backend == GpuBackend::vulkan) {
    all = flags;
    for (const fs::path& folder : options.include) add_folder(all, folder);
    return all;
  }
  const std::string architecture = architecture_of(device, options);
  if (device.backend == GpuBackend::cuda) {
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
  add_folder(all, our_headers());
  if (device.backend == GpuBackend::cuda) add_toolkit(all);
  return all;
}

std::vector<std::string> problem_options(const Problem& problem, const GpuDevice& device,
                                         const GpuOptions& options, const std::vector<std::string>& flags) {
  std::vector<std::string> with_files = flags;
  if (!problem.files.empty()) {
    const fs::path folder = folder_of_files(problem.files);
    // Quoted names next to the file that includes them, then the folders that the problem names.
    for (const std::string* file :
         {&problem.names.device, &problem.names.host, &problem.names.macros, &problem.names.reference})
      if (!file->empty()) add_folder(with_files, (folder / *file).parent_path().lexically_normal());
    for (const std::string& name : problem.include)
      add_folder(with_files, (folder / name).lexically_normal());
    add_folder(with_files, folder);
  }
  return compile_options(device, options, with_files);
}

}  // namespace kernelsearch::detail::gpu
