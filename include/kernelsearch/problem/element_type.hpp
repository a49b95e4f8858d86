// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelsearch/core/impl/enum_names.hpp"

namespace kernelsearch {

/// The types of scalar and array arguments. f16, bf16 and the 8-bit floats are passed to host kernels as
/// their bit patterns. f4e2m1, i4 and u4 are packed two to a byte, the lower four bits first; c64 is two
/// f32, the real part first. These and the 8-bit floats are types of arrays only. New ones go to the end:
/// the kernels of the GPU evaluator count from f16 on.
enum class ElementType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  f8e4m3,  ///< OCP OFP8 E4M3 (float8_e4m3fn): no infinities, NaN is 0x7f and 0xff, at most 448
  f8e5m2,  ///< OCP OFP8 E5M2: as IEEE 754 would have it, at most 57344
  f4e2m1,  ///< OCP MX E2M1: neither infinities nor NaN; 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives
  i4,
  u4,
  c64,
};

inline constexpr int element_type_count = detail::enum_count<ElementType>;

/// The name used in problem files: f16, bf16, f32, f64, i8..i64, u8..u64, bool, f8e4m3, f8e5m2, f4e2m1, i4,
/// u4, c64.
[[nodiscard]] constexpr std::string_view to_string(ElementType type) noexcept {
  constexpr std::string_view names[] = {"f16",    "bf16",   "f32", "f64", "i8",  "i16",  "i32",
                                        "i64",    "u8",     "u16", "u32", "u64", "bool", "f8e4m3",
                                        "f8e5m2", "f4e2m1", "i4",  "u4",  "c64"};
  return names[static_cast<int>(type)];
}

[[nodiscard]] constexpr std::optional<ElementType> element_type_from(std::string_view name) noexcept {
  return detail::enum_from<ElementType>(name);
}

/// Bytes of what is stored as one: an element, of packed types two of them.
[[nodiscard]] constexpr std::size_t size_in_bytes(ElementType type) noexcept {
  constexpr std::size_t sizes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 1, 1, 1, 1, 8};
  return sizes[static_cast<int>(type)];
}

/// Whether two elements share a byte.
[[nodiscard]] constexpr bool is_packed(ElementType type) noexcept {
  return type == ElementType::f4e2m1 || type == ElementType::i4 || type == ElementType::u4;
}

/// Elements in size_in_bytes.
[[nodiscard]] constexpr std::size_t stored_together(ElementType type) noexcept {
  return is_packed(type) ? 2 : 1;
}

[[nodiscard]] constexpr bool is_floating(ElementType type) noexcept {
  return type <= ElementType::f64 || (type >= ElementType::f8e4m3 && type <= ElementType::f4e2m1) ||
         type == ElementType::c64;
}

/// Whether it is a float of less than 16 bits.
[[nodiscard]] constexpr bool is_small_float(ElementType type) noexcept {
  return type >= ElementType::f8e4m3 && type <= ElementType::f4e2m1;
}

/// Whether it is an integer with a sign.
[[nodiscard]] constexpr bool is_signed_integer(ElementType type) noexcept {
  return (type >= ElementType::i8 && type <= ElementType::i64) || type == ElementType::i4;
}

/// Whether only arrays may have it, and no scalar and no field of a struct.
[[nodiscard]] constexpr bool is_of_arrays_only(ElementType type) noexcept {
  return type >= ElementType::f8e4m3;
}

/// The C++ type a host kernel receives, e.g. `float`, `std::int32_t`; floats of 16 and 8 bits arrive as
/// unsigned integers of their size, packed types as `std::uint8_t` for two elements, c64 as its parts.
[[nodiscard]] constexpr std::string_view cpp_name(ElementType type) noexcept {
  constexpr std::string_view names[] = {"std::uint16_t", "std::uint16_t", "float",         "double",
                                        "std::int8_t",   "std::int16_t",  "std::int32_t",  "std::int64_t",
                                        "std::uint8_t",  "std::uint16_t", "std::uint32_t", "std::uint64_t",
                                        "bool",          "std::uint8_t",  "std::uint8_t",  "std::uint8_t",
                                        "std::uint8_t",  "std::uint8_t",  "float"};
  return names[static_cast<int>(type)];
}

}  // namespace kernelsearch
