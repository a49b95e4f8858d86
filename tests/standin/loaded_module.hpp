// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/abi.hpp"

namespace kernelsearch_standin {

/// A kernel of a module: what hipFunction_t points to.
struct KernelEntry {
  void (*call)(void** parameters) = nullptr;
  unsigned warp = 64;
  unsigned launch_bound = 1024;  ///< threads of a block
  std::size_t static_shared = 0;
  struct Range {
    unsigned char* begin;
    std::size_t bytes;
  };
  std::vector<Range> shared;  ///< statics that stand for __shared__ memory
  unsigned char* dynamic_shared = nullptr;
};

/// A variable of a module.
struct ModuleGlobal {
  std::uint64_t address = 0;  ///< 0: there is none
  std::size_t bytes = 0;
};

/// An image that the stand-in of hipRTC made, loaded into this process.
class LoadedModule {
 public:
  /// Null where the image is no such thing or does not load.
  [[nodiscard]] static std::unique_ptr<LoadedModule> load(const void* image, State& state);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  /// Null where there is no such kernel; lives as long as the module.
  [[nodiscard]] const KernelEntry* kernel(const std::string& lowered);
  [[nodiscard]] ModuleGlobal global(const char* name) const;

 private:
  LoadedModule() = default;
  [[nodiscard]] bool open(const unsigned char* image, std::size_t bytes);
  void find_kernels(const unsigned char* image, std::size_t bytes, unsigned count, unsigned warp);

  int file_ = -1;
  void* handle_ = nullptr;
  std::map<std::string, KernelEntry> kernels_;
};

}  // namespace kernelsearch_standin
