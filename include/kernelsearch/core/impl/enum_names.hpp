// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

/// Enumerations whose enumerators are 0, 1, 2, ... and have names by `to_string`, without a count that
/// somebody would have to keep up to date.
namespace kernelsearch::detail {

/// Whether the value is an enumerator. The compiler writes one as `E::name`, other values as `(E)7` or `7`.
template <auto Value>
[[nodiscard]] constexpr bool is_enumerator() noexcept {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "Value = ";
  std::size_t end = text.find(before) + before.size();
  while (end < text.size() && text[end] != ';' && text[end] != ']') ++end;
  std::size_t begin = end;
  while (text[begin - 1] == '_' || (text[begin - 1] >= '0' && text[begin - 1] <= '9') ||
         (text[begin - 1] >= 'a' && text[begin - 1] <= 'z') ||
         (text[begin - 1] >= 'A' && text[begin - 1] <= 'Z'))
    --begin;
  return text[begin - 1] == ':';
}

template <class Enum, int From = 0>
[[nodiscard]] constexpr int count_enumerators() noexcept {
  if constexpr (is_enumerator<static_cast<Enum>(From)>())
    return count_enumerators<Enum, From + 1>();
  else
    return From;
}
/// How many enumerators there are.
template <class Enum>
inline constexpr int enum_count = count_enumerators<Enum>();

/// Whether each enumerator has a name of its own. Where the list of names is too short, this
/// is not a constant expression, or false: a `static_assert` of it does not compile.
template <class Enum>
[[nodiscard]] constexpr bool all_named() noexcept {
  for (int i = 0; i < enum_count<Enum>; ++i) {
    const std::string_view name = to_string(static_cast<Enum>(i));
    if (name.empty()) return false;
    for (int j = 0; j < i; ++j)
      if (to_string(static_cast<Enum>(j)) == name) return false;
  }
  return true;
}

/// The names of all enumerators, in their order.
template <class Enum>
inline constexpr auto enum_names = [] {
  static_assert(all_named<Enum>(), "an enumerator has no name: add it to the list in its to_string");
  std::array<std::string_view, enum_count<Enum>> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<Enum>(i));
  return names;
}();

/// The enumerator of that name, or nothing.
template <class Enum>
[[nodiscard]] constexpr std::optional<Enum> enum_from(std::string_view name) noexcept {
  for (std::size_t i = 0; i < enum_names<Enum>.size(); ++i)
    if (enum_names<Enum>[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace kernelsearch::detail
