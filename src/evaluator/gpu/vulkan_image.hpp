// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "shader/spirv_module.hpp"

namespace kernelsearch::detail::gpu {

/// A parameter of a launch, as the problem has it.
struct ShaderParameter {
  std::string name;
  bool is_array = false;
  std::uint32_t bytes = 0;  ///< of a scalar
};

/// A shader with what it is bound to: all that a driver needs to make a pipeline of it and launch it.
struct Shader {
  /// A storage buffer, and which parameter of a launch it is.
  struct Array {
    std::uint32_t binding = 0, parameter = 0;
    std::uint32_t exact = 0;  ///< it is asked for its length, so that nothing behind it may be bound
  };
  /// A push constant: a scalar parameter, or the byte at which the array of this parameter begins in what is
  /// bound, for shaders of ours, which take arrays at any address.
  struct Push {
    std::uint32_t offset = 0, bytes = 0, parameter = 0;
    std::uint32_t is_begin = 0;
  };
  /// A specialisation constant with its value.
  struct Constant {
    std::uint32_t id = 0, bytes = 0;
    std::uint64_t bits = 0;
  };
  std::string function;  ///< by which the problem launches it
  std::string entry;     ///< of the module
  std::vector<std::uint32_t> words;
  std::uint32_t parameters = 0;
  std::vector<Array> arrays;
  std::vector<Push> push;
  std::uint32_t push_bytes = 0;
  std::vector<Constant> constants;
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  SpirvNeeds needs;
  static auto members(auto& s) {
    return std::tie(s.function, s.entry, s.words, s.parameters, s.arrays, s.push, s.push_bytes, s.constants,
                    s.local_size, s.shared_bytes, s.needs);
  }
};

/// Which binding is which parameter: buffers by name (of the variable, its block, or the block's last member)
/// where one of them has an array's name, else the array at place n is binding n; push constants by name
/// where one of them has a scalar's name, else in order. Arrays and scalars that the shader does not declare
/// go unused. With `begins` a push constant called `NAME_begin` is where the array NAME begins.
[[nodiscard]] Result<Shader> bind_shader(const std::string& function, std::vector<std::uint32_t> words,
                                         const SpirvKernel& kernel,
                                         std::span<const ShaderParameter> parameters, bool begins = false);

/// The shaders of a module as the worker loads them.
[[nodiscard]] std::vector<std::byte> image_of(const std::vector<Shader>& shaders);
/// Nothing where the bytes are not such an image.
[[nodiscard]] std::optional<std::vector<Shader>> shaders_of(std::span<const std::byte> image);
/// Bytes of the image that begins here, as it says itself.
[[nodiscard]] std::uint64_t image_bytes(const void* image) noexcept;

}  // namespace kernelsearch::detail::gpu
