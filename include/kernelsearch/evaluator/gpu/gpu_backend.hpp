// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelsearch/problem/backend.hpp"

namespace kernelsearch {

/// Whose GPUs: which driver and run-time compiler are loaded when the program runs.
enum class GpuBackend : std::uint8_t { cuda, hip, opencl, vulkan };

[[nodiscard]] constexpr Backend backend_of(GpuBackend backend) noexcept {
  switch (backend) {
    case GpuBackend::cuda:
      return Backend::cuda;
    case GpuBackend::hip:
      return Backend::hip;
    case GpuBackend::opencl:
      return Backend::opencl;
    case GpuBackend::vulkan:
      break;
  }
  return Backend::vulkan;
}

/// Nothing for a backend that has no GpuEvaluator.
[[nodiscard]] constexpr std::optional<GpuBackend> gpu_backend_of(Backend backend) noexcept {
  if (backend == Backend::cuda) return GpuBackend::cuda;
  if (backend == Backend::hip) return GpuBackend::hip;
  if (backend == Backend::opencl) return GpuBackend::opencl;
  if (backend == Backend::vulkan) return GpuBackend::vulkan;
  return std::nullopt;
}

/// Whether the compiler is part of the driver and compiles for a device that it has: then the processes that
/// build see the device too.
[[nodiscard]] constexpr bool compiles_on_device(GpuBackend backend) noexcept {
  return backend == GpuBackend::opencl;
}

[[nodiscard]] constexpr std::string_view to_string(GpuBackend backend) noexcept {
  return to_string(backend_of(backend));
}

}  // namespace kernelsearch
