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
  std::vector<std::byte> image;      ///< a cubin, or AMD's code object
  std::vector<std::string> lowered;  ///< of the name expressions, in their order
  std::string log;
};

/// NVRTC or hipRTC, loaded when the program runs. One per process or thread; compiles in the calling thread.
class RuntimeCompiler {
 public:
  /// Null with `problem` set where the library is missing (`KERNELSEARCH_NVRTC` and `KERNELSEARCH_HIPRTC`
  /// name another file).
  [[nodiscard]] static std::unique_ptr<RuntimeCompiler> load(GpuBackend backend, std::string& problem);

  /// `options` as the library takes them, the architecture included.
  [[nodiscard]] DeviceCode compile(const std::string& source, const std::vector<std::string>& options,
                                   const std::vector<std::string>& name_expressions) const;
  /// E.g. `NVRTC 13.0`.
  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }
  [[nodiscard]] const std::string& library() const noexcept { return library_; }

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
  std::string identity_;
  std::string library_;
};

}  // namespace kernelsearch::detail::gpu
