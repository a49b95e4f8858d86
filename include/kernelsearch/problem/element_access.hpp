// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernelsearch/problem/element_type.hpp"

namespace kernelsearch {

/// The element stored at `in` (any alignment) as a double; exact but for 64-bit integers beyond 2^53. For
/// packed types, it is that in the lower four bits, for c64 the real part.
[[nodiscard]] double load_element(ElementType type, const std::byte* in) noexcept;

/// Stores `value` at `out` (any alignment) as `type`: floats round to nearest even and overflow to infinity
/// (f8e4m3 to NaN, f4e2m1 to 6, as in PyTorch and ml_dtypes), integers round to nearest even, saturate, and
/// store NaN as 0; bool stores `value != 0`. Packed types store it in the lower four bits and 0 above it.
void store_element(ElementType type, double value, std::byte* out) noexcept;

/// Stores a whole number at `out`; integers saturate, floats round to nearest even, bool stores `value != 0`.
void store_element(ElementType type, std::int64_t value, std::byte* out) noexcept;

/// The element number `index` of an array that begins at `in`; also of packed types.
[[nodiscard]] double load_element(ElementType type, const std::byte* in, std::size_t index) noexcept;

/// Stores an element of an array, and of packed types leaves the other one of its byte as it is.
void store_element(ElementType type, double value, std::byte* out, std::size_t index) noexcept;
void store_element(ElementType type, std::int64_t value, std::byte* out, std::size_t index) noexcept;

/// The pattern of the half-precision value nearest to `value` (IEEE 754 binary16, ties to even).
[[nodiscard]] std::uint16_t f16_from_double(double value) noexcept;
[[nodiscard]] double double_from_f16(std::uint16_t pattern) noexcept;

/// The pattern of the bfloat16 value nearest to `value` (the upper half of a binary32, ties to even).
[[nodiscard]] std::uint16_t bf16_from_double(double value) noexcept;
[[nodiscard]] double double_from_bf16(std::uint16_t pattern) noexcept;

/// Patterns of the OCP formats, of which f4e2m1 has the lower four bits: nearest values, ties to even.
/// Beyond the greatest value f8e4m3 becomes NaN, f8e5m2 infinity and f4e2m1 the greatest; NaN of f4e2m1 is
/// -0.
[[nodiscard]] std::uint8_t f8e4m3_from_double(double value) noexcept;
[[nodiscard]] double double_from_f8e4m3(std::uint8_t pattern) noexcept;
[[nodiscard]] std::uint8_t f8e5m2_from_double(double value) noexcept;
[[nodiscard]] double double_from_f8e5m2(std::uint8_t pattern) noexcept;
[[nodiscard]] std::uint8_t f4e2m1_from_double(double value) noexcept;
[[nodiscard]] double double_from_f4e2m1(std::uint8_t pattern) noexcept;

/// The integers from 0 up to this one are all values of `type`; at most 2^53.
[[nodiscard]] std::int64_t largest_exact_integer(ElementType type) noexcept;

/// The smallest value of a floating `type` that is >= `bound`, and the greatest that is < `bound`.
[[nodiscard]] double smallest_from(ElementType type, double bound) noexcept;
[[nodiscard]] double greatest_below(ElementType type, double bound) noexcept;

}  // namespace kernelsearch
