// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelsearch {

/// The types of scalar and array arguments. f16 and bf16 are passed to host kernels as their 16-bit patterns.
enum class ElementType : std::uint8_t { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

inline constexpr int element_type_count = 13;

/// The name used in problem files: f16, bf16, f32, f64, i8..i64, u8..u64, bool.
[[nodiscard]] constexpr std::string_view to_string(ElementType type) noexcept {
  constexpr std::string_view names[] = {"f16", "bf16", "f32", "f64", "i8",  "i16", "i32",
                                        "i64", "u8",   "u16", "u32", "u64", "bool"};
  return names[static_cast<int>(type)];
}

[[nodiscard]] constexpr std::optional<ElementType> element_type_from(std::string_view name) noexcept {
  for (int i = 0; i < element_type_count; ++i)
    if (to_string(static_cast<ElementType>(i)) == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

[[nodiscard]] constexpr std::size_t size_in_bytes(ElementType type) noexcept {
  constexpr std::size_t sizes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return sizes[static_cast<int>(type)];
}

[[nodiscard]] constexpr bool is_floating(ElementType type) noexcept {
  return type <= ElementType::f64;
}

/// The C++ type a host kernel receives, e.g. `float`, `std::int32_t`; 16-bit floats arrive as
/// `std::uint16_t`.
[[nodiscard]] constexpr std::string_view cpp_name(ElementType type) noexcept {
  constexpr std::string_view names[] = {"std::uint16_t", "std::uint16_t", "float",         "double",
                                        "std::int8_t",   "std::int16_t",  "std::int32_t",  "std::int64_t",
                                        "std::uint8_t",  "std::uint16_t", "std::uint32_t", "std::uint64_t",
                                        "bool"};
  return names[static_cast<int>(type)];
}

}  // namespace kernelsearch
