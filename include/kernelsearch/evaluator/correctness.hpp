// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/element_type.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// One element that is not what it should be.
struct Mismatch {
  std::size_t index = 0;
  double got = 0.0;
  double expected = 0.0;
  double allowed = 0.0;  ///< the largest difference that would have passed
};

/// How an output compares with what was expected of it.
struct Comparison {
  std::size_t elements = 0;
  std::size_t wrong = 0;
  std::size_t exempt = 0;         ///< elements of which nothing was expected; never wrong
  std::optional<Mismatch> first;  ///< the wrong element of lowest index
  std::size_t beyond = 0;         ///< those of the wrong ones that no share of wrong elements may hold
  std::optional<Mismatch> first_beyond;

  /// Whether all are right.
  [[nodiscard]] bool ok() const noexcept { return wrong == 0; }
  /// Whether as many are right as the tolerance asks, and the others within its cap.
  [[nodiscard]] bool ok(const Tolerance& tolerance) const noexcept {
    return beyond == 0 && wrong <= allowed_wrong(tolerance, elements - exempt);
  }
  /// The share of right elements in [0, 1]; 1 where nothing was expected.
  [[nodiscard]] double right_share() const noexcept {
    return elements == exempt ? 1.0
                              : 1.0 - static_cast<double>(wrong) / static_cast<double>(elements - exempt);
  }
};

namespace detail {

[[nodiscard]] inline double largest_finite(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
      return 65504.0;
    case ElementType::bf16:
      return 3.3895313892515355e38;
    case ElementType::f32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case ElementType::f8e4m3:
      return 448.0;
    case ElementType::f8e5m2:
      return 57344.0;
    case ElementType::f4e2m1:
      return 6.0;
    default:
      return std::numeric_limits<double>::max();
  }
}

/// One half unit in the last place of `type` above which finite values round to infinity, relative.
[[nodiscard]] inline double half_ulp(ElementType type) noexcept {
  switch (type) {
    case ElementType::f16:
      return 0x1.0p-12;
    case ElementType::bf16:
      return 0x1.0p-9;
    case ElementType::f32:
      return 0x1.0p-25;
    case ElementType::f8e4m3:
      return 0x1.0p-5;
    case ElementType::f8e5m2:
      return 0x1.0p-4;
    case ElementType::f4e2m1:
      return 0x1.0p-3;
    default:
      return 0x1.0p-54;
  }
}

template <class T>
[[nodiscard]] T load_as(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace detail

namespace detail {

/// Whether `got` is what `type` has in the place of a number as large as `expected`: an infinity, or of
/// floats of 8 and 4 bits what conversions that saturate give, too (CUDA's do, PyTorch's do not), and of
/// f8e4m3 NaN.
[[nodiscard]] inline bool stands_for_overflow(ElementType type, double got, double expected) noexcept {
  if (type == ElementType::f8e4m3 && std::isnan(got)) return true;
  if (std::isnan(got) || std::signbit(got) != std::signbit(expected)) return false;
  return std::isinf(got) || (is_small_float(type) && std::abs(got) == largest_finite(type));
}

}  // namespace detail

/// Whether `got`, computed in `type`, may stand for `expected`, computed in a wider type: |got - expected|
/// <= absolute + relative * |expected| + slack. NaN is right only where NaN is expected; an infinity only
/// where the same infinity is expected and allowed, or where `expected` overflows `type`, tolerance
/// included. Floats of 8 and 4 bits may hold their greatest value there, f8e4m3 NaN as well.
[[nodiscard]] inline bool is_right(ElementType type, double got, double expected, const Tolerance& tolerance,
                                   double slack = 0.0) noexcept {
  if (std::isnan(expected)) return std::isnan(got);
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(expected) + slack;
  if (is_small_float(type) && detail::stands_for_overflow(type, got, expected) &&
      (std::isinf(expected) ||
       std::abs(expected) + allowed >= detail::largest_finite(type) * (1.0 - detail::half_ulp(type))))
    return true;
  if (std::isnan(got)) return false;
  if (std::isinf(got) &&
      (tolerance.infinities == Infinities::none || (tolerance.infinities == Infinities::negative && got > 0)))
    return false;
  if (std::isinf(expected)) return got == expected;
  if (std::isinf(got))
    return std::signbit(got) == std::signbit(expected) &&
           std::abs(expected) + allowed >= detail::largest_finite(type) * (1.0 - detail::half_ulp(type));
  return std::abs(got - expected) <= allowed;
}

/// Whether an element that is not right is farther off than any may be: beyond the cap, or NaN or an
/// infinity on one side alone.
[[nodiscard]] inline bool is_beyond(double got, double expected, const Tolerance& tolerance,
                                    double slack) noexcept {
  if (!std::isfinite(got) || !std::isfinite(expected)) return true;
  const Tolerance cap = cap_of(tolerance);
  return !(std::abs(got - expected) <= cap.absolute + cap.relative * std::abs(expected) + slack);
}

/// Compares an output of floating `type` at `got` with `expected`. `slack` is empty or gives each element a
/// further allowance; infinity there exempts the element. For c64, both are the parts, each compared for
/// itself.
[[nodiscard]] inline Comparison compare_floating(ElementType type, const std::byte* got,
                                                 std::span<const double> expected, const Tolerance& tolerance,
                                                 std::span<const double> slack = {}) {
  Comparison result;
  result.elements = expected.size();
  const std::size_t size = size_in_bytes(type);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double extra = slack.empty() ? 0.0 : slack[i];
    if (std::isinf(extra)) {
      ++result.exempt;
      continue;
    }
    const std::byte* at = got + i * size;
    const double value = type == ElementType::f32   ? static_cast<double>(detail::load_as<float>(at))
                         : type == ElementType::f64 ? detail::load_as<double>(at)
                                                    : load_element(type, got, i);
    if (is_right(type, value, expected[i], tolerance, extra)) continue;
    const Mismatch mismatch{i, value, expected[i],
                            tolerance.absolute + tolerance.relative * std::abs(expected[i]) + extra};
    if (result.wrong++ == 0) result.first = mismatch;
    if (!is_beyond(value, expected[i], tolerance, extra)) continue;
    if (result.beyond++ == 0) result.first_beyond = mismatch;
  }
  return result;
}

namespace detail {

template <class T>
Comparison compare_integers_of(const std::byte* got, const std::byte* expected, std::size_t count,
                               const Tolerance& tolerance) {
  Comparison result;
  result.elements = count;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = load_as<T>(got + i * sizeof(T)), wanted = load_as<T>(expected + i * sizeof(T));
    if (value == wanted) continue;
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(wanted));
    // the difference is taken in the unsigned type: it is exact, and a 64-bit double would swallow the
    // last bits
    using U = std::make_unsigned_t<T>;
    const U difference = value > wanted ? static_cast<U>(static_cast<U>(value) - static_cast<U>(wanted))
                                        : static_cast<U>(static_cast<U>(wanted) - static_cast<U>(value));
    if (static_cast<double>(difference) <= allowed) continue;
    const Mismatch mismatch{i, static_cast<double>(value), static_cast<double>(wanted), allowed};
    if (result.wrong++ == 0) result.first = mismatch;
    const Tolerance cap = cap_of(tolerance);
    if (static_cast<double>(difference) <=
        cap.absolute + cap.relative * std::abs(static_cast<double>(wanted)))
      continue;
    if (result.beyond++ == 0) result.first_beyond = mismatch;
  }
  return result;
}

/// One to a byte, so that they compare as others do.
inline std::vector<std::byte> unpacked(ElementType type, const std::byte* packed, std::size_t count) {
  std::vector<std::byte> whole(count);
  for (std::size_t i = 0; i < count; ++i)
    store_element(ElementType::i8, load_element(type, packed, i), &whole[i]);
  return whole;
}

}  // namespace detail

/// Compares an output of integer or boolean `type` with `expected`, both of `count` elements. Booleans
/// compare as bytes: anything but the expected 0 or 1 is wrong.
[[nodiscard]] inline Comparison compare_integers(ElementType type, const std::byte* got,
                                                 const std::byte* expected, std::size_t count,
                                                 const Tolerance& tolerance) {
  switch (type) {
    case ElementType::i4:
    case ElementType::u4:
      return detail::compare_integers_of<std::int8_t>(detail::unpacked(type, got, count).data(),
                                                      detail::unpacked(type, expected, count).data(), count,
                                                      tolerance);
    case ElementType::i8:
      return detail::compare_integers_of<std::int8_t>(got, expected, count, tolerance);
    case ElementType::i16:
      return detail::compare_integers_of<std::int16_t>(got, expected, count, tolerance);
    case ElementType::i32:
      return detail::compare_integers_of<std::int32_t>(got, expected, count, tolerance);
    case ElementType::i64:
      return detail::compare_integers_of<std::int64_t>(got, expected, count, tolerance);
    case ElementType::u16:
      return detail::compare_integers_of<std::uint16_t>(got, expected, count, tolerance);
    case ElementType::u32:
      return detail::compare_integers_of<std::uint32_t>(got, expected, count, tolerance);
    case ElementType::u64:
      return detail::compare_integers_of<std::uint64_t>(got, expected, count, tolerance);
    default:
      return detail::compare_integers_of<std::uint8_t>(got, expected, count, tolerance);
  }
}

}  // namespace kernelsearch
