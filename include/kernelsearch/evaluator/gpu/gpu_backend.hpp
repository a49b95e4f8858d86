// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelsearch/problem/backend.hpp"

namespace kernelsearch {

/// Whose GPUs: which driver and run-time compiler are loaded when the program runs.
enum class GpuBackend : std::uint8_t { cuda, hip };

[[nodiscard]] constexpr Backend backend_of(GpuBackend backend) noexcept {
  return backend == GpuBackend::cuda ? Backend::cuda : Backend::hip;
}

/// Nothing for a backend that has no GpuEvaluator.
[[nodiscard]] constexpr std::optional<GpuBackend> gpu_backend_of(Backend backend) noexcept {
  if (backend == Backend::cuda) return GpuBackend::cuda;
  if (backend == Backend::hip) return GpuBackend::hip;
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view to_string(GpuBackend backend) noexcept {
  return to_string(backend_of(backend));
}

}  // namespace kernelsearch
