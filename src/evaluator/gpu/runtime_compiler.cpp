// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/runtime_compiler.hpp"

#include <cstdlib>

#include "evaluator/gpu/library.hpp"

namespace kernelsearch::detail::gpu {
namespace {

/// NVRTC or hipRTC.
class ToolkitCompiler final : public RuntimeCompiler {
 public:
  static std::unique_ptr<RuntimeCompiler> load(GpuBackend backend, std::string& problem);
  DeviceCode compile(const std::string& source, const std::vector<std::string>& options,
                     const std::vector<std::string>& name_expressions) const override;

 private:
  using Program = void*;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*code_size_)(Program, std::size_t*) = nullptr;
  int (*code_)(Program, char*) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*add_name_)(Program, const char*) = nullptr;
  int (*lowered_)(Program, const char*, const char**) = nullptr;
};

std::unique_ptr<RuntimeCompiler> ToolkitCompiler::load(GpuBackend backend, std::string& problem) {
  const bool cuda = backend == GpuBackend::cuda;
  Library library =
      cuda ? Library::open({std::getenv("KERNELSEARCH_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12",
                            "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"},
                           problem)
           : Library::open({std::getenv("KERNELSEARCH_HIPRTC"), "libhiprtc.so.7", "libhiprtc.so.6",
                            // part of the runtime up to ROCm 5.2, as Debian 12 has it
                            "libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.5"},
                           problem);
  if (!library) return nullptr;
  auto compiler = std::make_unique<ToolkitCompiler>();
  ToolkitCompiler& c = *compiler;
  const std::string prefix = cuda ? "nvrtc" : "hiprtc";
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& function) {
    if (!library.find((prefix + name).c_str(), function)) missing = name;
  };
  get("CreateProgram", c.create_);
  get("DestroyProgram", c.destroy_);
  get("CompileProgram", c.compile_);
  get(cuda ? "GetCUBINSize" : "GetCodeSize", c.code_size_);
  get(cuda ? "GetCUBIN" : "GetCode", c.code_);
  get("GetProgramLogSize", c.log_size_);
  get("GetProgramLog", c.log_);
  get("AddNameExpression", c.add_name_);
  get("GetLoweredName", c.lowered_);
  int (*version)(int*, int*) = nullptr;
  get("Version", version);
  if (missing != nullptr) {
    problem = library.path() + " lacks " + prefix + missing + ": it is too old";
    return nullptr;
  }
  int major = 0, minor = 0;
  (void)version(&major, &minor);
  c.identity_ = (cuda ? "NVRTC " : "hipRTC ") + std::to_string(major) + "." + std::to_string(minor);
  c.library_ = library.path();
  library.keep();
  return compiler;
}

DeviceCode ToolkitCompiler::compile(const std::string& source, const std::vector<std::string>& options,
                                    const std::vector<std::string>& name_expressions) const {
  DeviceCode result;
  Program program = nullptr;
  if (const int status = create_(&program, source.c_str(), "kernel", 0, nullptr, nullptr); status != 0) {
    result.log = "the compiler made no program of the source (error " + std::to_string(status) + ")";
    return result;
  }
  for (const std::string& name : name_expressions) (void)add_name_(program, name.c_str());
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  const int status = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  std::size_t size = 0;
  if (log_size_(program, &size) == 0 && size > 1) {
    result.log.resize(size);
    (void)log_(program, result.log.data());
    result.log.resize(result.log.find('\0') == std::string::npos ? size : result.log.find('\0'));
  }
  if (status != 0 && result.log.empty()) result.log = "error " + std::to_string(status);
  if (status == 0 && code_size_(program, &size) == 0 && size > 0) {
    result.image.resize(size);
    result.ok = code_(program, reinterpret_cast<char*>(result.image.data())) == 0;
    for (const std::string& name : name_expressions) {
      const char* lowered = nullptr;
      if (lowered_(program, name.c_str(), &lowered) != 0 || lowered == nullptr) {
        result.ok = false;
        result.log += "the source has no kernel " + name + "\n";
      } else {
        result.lowered.emplace_back(lowered);
      }
    }
  }
  (void)destroy_(&program);
  return result;
}

}  // namespace

std::unique_ptr<RuntimeCompiler> RuntimeCompiler::load(GpuBackend backend, std::string& problem, int device) {
  if (backend == GpuBackend::opencl) return load_opencl_compiler(problem, device);
  if (backend == GpuBackend::vulkan) return load_vulkan_compiler(problem);
  return ToolkitCompiler::load(backend, problem);
}

}  // namespace kernelsearch::detail::gpu
