// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "evaluator/gpu/library.hpp"

namespace kernelsearch::detail::gpu {

/// Makes machine code of PTX with the CUDA toolkit's nvJitLink, which is loaded when the program runs and
/// needs neither device nor driver. NVIDIA's OpenCL gives PTX for a program that it built and takes a cubin
/// for it again, so that the process which launches kernels need not assemble each anew.
class PtxAssembler {
 public:
  /// Null where nvJitLink is missing (`KERNELSEARCH_NVJITLINK` names another file) or lacks a function.
  [[nodiscard]] static std::unique_ptr<PtxAssembler> load();

  /// E.g. `nvJitLink 13.0`.
  [[nodiscard]] const std::string& identity() const noexcept { return identity_; }

  /// The cubin of `ptx` for that compute capability; empty where it is refused: PTX newer than the toolkit,
  /// or more local memory than CUDA gives to kernels that do not ask for it at the launch.
  [[nodiscard]] std::string assemble(std::string_view ptx, std::uint64_t major, std::uint64_t minor) const;

 private:
  using Linker = void*;
  std::string identity_;
  int (*create_)(Linker*, std::uint32_t, const char**) = nullptr;
  int (*destroy_)(Linker*) = nullptr;
  int (*add_)(Linker, int, const void*, std::size_t, const char*) = nullptr;
  int (*complete_)(Linker) = nullptr;
  int (*cubin_size_)(Linker, std::size_t*) = nullptr;
  int (*cubin_)(Linker, void*) = nullptr;
};

}  // namespace kernelsearch::detail::gpu
