// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

namespace kernelsearch::detail::gpu {

/// What a compilation gave.
struct DeviceCode {
  bool ok = false;
  std::vector<std::byte>
      image;  ///< a cubin, AMD's code object; of OpenCL its length and what the driver gave
  std::vector<std::string> lowered;  ///< of the name expressions, in their order
  std::string log;
};

/// A compiler of device code that is loaded when the program runs: NVRTC, hipRTC, or a driver of OpenCL. One
/// per process or thread; compiles in the calling thread.
class RuntimeCompiler {
 public:
  /// Null with `problem` set where the library is missing (`KERNELSEARCH_NVRTC`, `KERNELSEARCH_HIPRTC` and
  /// `KERNELSEARCH_OPENCL` name another file). `device`: for which one, of compilers that are part of a
  /// driver.
  [[nodiscard]] static std::unique_ptr<RuntimeCompiler> load(GpuBackend backend, std::string& problem,
                                                             int device = 0);
  RuntimeCompiler() = default;
  virtual ~RuntimeCompiler() = default;
  RuntimeCompiler(const RuntimeCompiler&) = delete;
  RuntimeCompiler& operator=(const RuntimeCompiler&) = delete;

  /// `options` as the library takes them, the architecture included.
  [[nodiscard]] virtual DeviceCode compile(const std::string& source, const std::vector<std::string>& options,
                                           const std::vector<std::string>& name_expressions) const = 0;
  /// E.g. `NVRTC 13.0`.
  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
  [[nodiscard]] const std::string& library() const noexcept { return library_; }

 protected:
  std::string identity_;
  std::string library_;
};

/// The compiler in the driver of that device (see opencl_devices). Its images are 8 bytes of length and what
/// CL_PROGRAM_BINARIES gives; the names of kernels are what they are. Null with `problem` set where there is
/// no such device.
[[nodiscard]] std::unique_ptr<RuntimeCompiler> load_opencl_compiler(std::string& problem, int device);

/// glslangValidator behind the interface of run-time compilers: takes the texts of vulkan_source.hpp and
/// gives images of shaders. SPIR-V that it made of the same text is used again, so that a tunable which is a
/// specialisation constant costs no compilation. Null with `problem` set where the program is missing.
[[nodiscard]] std::unique_ptr<RuntimeCompiler> load_vulkan_compiler(std::string& problem);

}  // namespace kernelsearch::detail::gpu
