// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelsearch {

/// What a problem's kernels are written for. Files and stores have it by name.
enum class Backend : std::uint8_t {
  host,
  cuda,
  hip,
  opencl,
  vulkan,
  external,  ///< whatever a program of the problem's runs: docs/external_evaluators.md
};

/// All that differs between backends and is no more than a name or a yes.
struct BackendTraits {
  Backend backend;
  std::string_view name;
  std::string_view extension;        ///< of a file with a kernel
  std::string_view language;         ///< of a kernel in Markdown
  std::string_view compiler;         ///< of kernels, if the problem names none; empty: the driver
  std::string_view launch_compiler;  ///< of kernels that come with a launch function
  bool device;                       ///< kernels are launched over a grid, not called
  bool gpu;                          ///< there is an evaluator for it that measures on GPUs
};

inline constexpr std::array<BackendTraits, 6> backend_traits{{
    {Backend::host, "host", ".cpp", "cpp", "g++", "g++", false, false},
    {Backend::cuda, "cuda", ".cu", "cuda", "nvrtc", "nvcc", true, true},
    {Backend::hip, "hip", ".hip", "hip", "hiprtc", "hipcc", true, true},
    {Backend::opencl, "opencl", ".cl", "opencl", "", "", true, true},
    {Backend::vulkan, "vulkan", ".comp", "glsl", "glslang", "", true, true},
    {Backend::external, "external", ".txt", "", "g++", "g++", false, false},
}};

[[nodiscard]] constexpr const BackendTraits& traits_of(Backend backend) noexcept {
  return backend_traits[static_cast<std::size_t>(backend)];
}

[[nodiscard]] constexpr std::string_view to_string(Backend backend) noexcept {
  return traits_of(backend).name;
}

/// The backend of that name, if there is one.
[[nodiscard]] constexpr std::optional<Backend> backend_from(std::string_view name) noexcept {
  for (const BackendTraits& traits : backend_traits)
    if (traits.name == name) return traits.backend;
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_device(Backend backend) noexcept {
  return traits_of(backend).device;
}
[[nodiscard]] constexpr bool is_gpu(Backend backend) noexcept {
  return traits_of(backend).gpu;
}

}  // namespace kernelsearch
