// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_preprocess.hpp"

#include <filesystem>
#include <memory>
#include <sstream>
#include <string_view>

#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/vulkan_source.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

namespace kernelsearch {
namespace {

/// What the device's compiler defines and its headers ask for, for the newest architecture that kernels of
/// ours are written for: a tunable that only older ones read is rarely worth a search.
std::vector<std::string> definitions(const Problem& problem) {
  if (problem.backend == Backend::opencl) return {"-D__OPENCL_VERSION__=300"};
  if (problem.backend == Backend::vulkan) return {"-DVULKAN=100", "-DGL_SPIRV=100"};
  const bool run_time = problem.kernel.regions.host.empty();
  if (problem.backend == Backend::hip)
    return {"-D__HIP__", "-D__HIPCC__", "-D__HIP_PLATFORM_AMD__", "-D__HIP_DEVICE_COMPILE__=1",
            run_time ? "-D__HIPCC_RTC__" : "-D__clang__"};
  std::vector<std::string> all{"-D__CUDACC__",
                               "-D__NVCC__",
                               "-D__CUDA_ARCH__=900",
                               "-D__CUDA_ARCH_FEAT_SM90_ALL=1",
                               "-D__CUDACC_VER_MAJOR__=13",
                               "-D__CUDACC_VER_MINOR__=0"};
  if (run_time) all.emplace_back("-D__CUDACC_RTC__");
  return all;
}

/// The options that a preprocessor reads.
bool is_for_preprocessor(const std::string& flag) {
  return flag.starts_with("-D") || flag.starts_with("-U") || flag.starts_with("-I");
}

/// The text of a candidate as a preprocessor of C++ takes it: of a shader without the lines that it does not
/// know, and with the values of specialisation constants, which are read although no macro has them.
std::string preprocessed_source(const Problem& problem, const Candidate& candidate) {
  const std::string text = detail::gpu::device_source(problem, candidate);
  if (problem.backend != Backend::vulkan) return text;
  const auto source = detail::gpu::shader_source_of(text);
  if (!source) return text;
  std::string out;
  for (const auto& [name, value] : source->constants)
    out += "specialisation_constant " + name + " = " + to_string(value) + ";\n";
  std::istringstream in(source->text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    const std::string_view rest = begin == std::string::npos ? "" : std::string_view(line).substr(begin);
    out += (rest.starts_with("#version") || rest.starts_with("#extension") ? std::string() : line) + "\n";
  }
  return out;
}

}  // namespace

Preprocess gpu_preprocess(const Problem& problem, const GpuOptions& options) {
  if (!problem.build.command.empty()) return {};  // its text is nothing of the preprocessor's
  HostOptions host;
  host.sandbox = resolved(options.sandbox);
  host.cache_directory = options.cache_directory;
  GpuDevice device;
  device.backend = gpu_backend_of(problem.backend).value_or(GpuBackend::hip);
  std::vector<std::string> command{"g++"};
  for (std::string& definition : definitions(problem)) command.push_back(std::move(definition));
  for (std::string& option : detail::gpu::problem_options(problem, device, options, {}))
    if (is_for_preprocessor(option)) {
      if (option.starts_with("-I") && !option.starts_with("-I/usr/"))
        host.readable.emplace_back(option.substr(2));
      command.push_back(std::move(option));
    }
  std::shared_ptr<detail::CompileCache> compiler;
  try {
    const HostMachine machine = host_machine();
    compiler = std::make_shared<detail::CompileCache>(host, machine.id(), machine.cores);
    (void)compiler->identity(command.front());
  } catch (const ConfigError&) {
    return {};
  }
  auto kernel = std::make_shared<const Kernel>(problem.kernel);
  auto ours = std::make_shared<const Problem>(problem);
  return [compiler, command, kernel, ours](const Config& config) {
    const Candidate candidate{kernel, config};
    std::vector<std::string> with_flags = command;
    for (std::string& flag : candidate_flags(*ours, candidate))
      if (is_for_preprocessor(flag)) with_flags.push_back(std::move(flag));
    return compiler->preprocess(
        CompileJob{preprocessed_source(*ours, candidate) + region("host", kernel->regions.host),
                   {},
                   {},
                   {},
                   with_flags});
  };
}

}  // namespace kernelsearch
