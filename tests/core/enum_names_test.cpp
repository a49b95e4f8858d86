// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/impl/enum_names.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {
namespace {

enum class Colour : std::uint8_t { red, green_2, Blue };
constexpr std::string_view to_string(Colour colour) noexcept {
  constexpr std::string_view names[] = {"red", "green", "blue"};
  return names[static_cast<int>(colour)];
}
enum class Unnamed : std::uint8_t { one, two };
constexpr std::string_view to_string(Unnamed) noexcept {
  return "";
}
enum class Twice : std::uint8_t { one, two };
constexpr std::string_view to_string(Twice) noexcept {
  return "same";
}
enum class Gap : std::uint8_t { zero = 0, two = 2 };

TEST_CASE("enum_names: enumerators are counted by the compiler, up to the first gap") {
  static_assert(detail::enum_count<Colour> == 3);
  static_assert(detail::enum_count<MoveKind> == static_cast<int>(MoveKind::submitted) + 1);
  static_assert(detail::enum_count<SamplingEnd> == static_cast<int>(SamplingEnd::recorded) + 1);
  static_assert(detail::enum_count<Verdict> == verdict_count);
  static_assert(detail::enum_count<Gap> == 1);
  CHECK(detail::is_enumerator<Gap::two>());
  CHECK_FALSE(detail::is_enumerator<static_cast<Gap>(1)>());
}

TEST_CASE("enum_names: each enumerator needs a name of its own") {
  static_assert(detail::all_named<Colour>() && detail::all_named<MoveKind>() && detail::all_named<Verdict>());
  CHECK_FALSE(detail::all_named<Unnamed>());
  CHECK_FALSE(detail::all_named<Twice>());
}

TEST_CASE("enum_names: an enumerator by its name") {
  static_assert(detail::enum_from<Colour>("blue") == Colour::Blue);
  CHECK(detail::enum_from<Colour>("red") == Colour::red);
  CHECK(detail::enum_from<MoveKind>("submitted") == MoveKind::submitted);
  CHECK_FALSE(detail::enum_from<Colour>("Blue"));
  CHECK_FALSE(detail::enum_from<Colour>(""));
}

}  // namespace
}  // namespace kernelsearch
