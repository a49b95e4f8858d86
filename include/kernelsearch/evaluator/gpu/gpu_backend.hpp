// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelsearch {

/// Whose GPUs: which driver and run-time compiler are loaded when the program runs.
enum class GpuBackend : std::uint8_t { cuda, hip };

[[nodiscard]] constexpr std::string_view to_string(GpuBackend backend) noexcept {
  return backend == GpuBackend::cuda ? "cuda" : "hip";
}

}  // namespace kernelsearch
