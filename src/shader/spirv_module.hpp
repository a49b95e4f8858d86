// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

/// What a shader wants of its device, as SPIR-V's capabilities say.
struct SpirvNeeds {
  bool float64 = false, float16 = false, int64 = false, int16 = false, int8 = false;
  bool storage16 = false, storage8 = false;
  auto operator<=>(const SpirvNeeds&) const = default;
};

/// A storage buffer that a shader declares.
struct SpirvBuffer {
  std::uint32_t binding = 0;
  /// The names that it goes by: of the variable, of its block, of the block's last member; unique, in this
  /// order.
  std::vector<std::string> names;
  /// The shader asks how long it is, so that it must be bound exactly.
  bool asks_length = false;
};

/// A member of the block of push constants: bytes.
struct SpirvPushMember {
  std::uint32_t offset = 0, bytes = 0;
  std::string name;
};

/// A specialisation constant.
struct SpirvConstant {
  std::uint32_t id = 0;  ///< its SpecId
  std::string name;
  enum Kind : std::uint8_t { boolean, signed_integer, unsigned_integer, floating } kind = signed_integer;
  std::uint32_t bytes = 4;  ///< 4 for a boolean, which Vulkan passes as 32 bits
  std::uint64_t bits = 0;   ///< the value that it has: the module's own, or what was given
  /// Several without names have this id and values of their own, and none was given: each keeps its own.
  bool differ = false;
};

/// What a compute shader is, read of its SPIR-V.
struct SpirvKernel {
  std::string entry;
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::vector<SpirvBuffer> buffers;      ///< by binding
  std::vector<SpirvPushMember> push;     ///< by offset
  std::uint32_t push_bytes = 0;          ///< to the end of the last member
  std::vector<SpirvConstant> constants;  ///< by id
  std::uint64_t shared_bytes = 0;        ///< memory of a work group
  SpirvNeeds needs;
};

/// Reads a module of SPIR-V 1.0 to 1.6 in the byte order of this machine: its only compute entry point, or
/// the one called `entry` where that is not empty. Specialisation constants whose names are among `values`
/// get these, and local and shared sizes are those that follow; one without a name goes by `constant_N`, N
/// its SpecId. Among several, an entry point has what its functions use. Everything that is bound must be
/// storage buffers of descriptor set 0 and push constants. Any words may be given: any other module is
/// refused with a reason. Source: the SPIR-V specification 1.6, sections 2.3 and 3.
[[nodiscard]] Result<SpirvKernel> read_spirv(std::span<const std::uint32_t> words, const std::string& entry,
                                             std::span<const std::pair<std::string, Value>> values);

/// The names of a module's entry points for compute, in its order.
[[nodiscard]] std::vector<std::string> spirv_entries(std::span<const std::uint32_t> words);

/// Numbers the bindings anew, in the order of the variables, where two of them have the same: HLSL counts its
/// registers t0 and u0 apart, glslang does not.
void make_bindings_distinct(std::vector<std::uint32_t>& words);

/// The words of a file of SPIR-V, in the byte order of this machine; an error for another file.
[[nodiscard]] Result<std::vector<std::uint32_t>> spirv_words(std::span<const std::byte> bytes);

}  // namespace kernelsearch::detail
