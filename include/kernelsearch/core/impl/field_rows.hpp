// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernelsearch/core/field.hpp"

/// How a row of a table of options is made of a member: `field<&Options::population>("population", ...)`,
/// or of a member of a member, `field<&Outer::inner, &Inner::jobs>("jobs", ...)`.
namespace kernelsearch::detail::fields {

template <class Member>
struct MemberParts;
template <class O, class T>
struct MemberParts<T O::*> {
  using Options = O;
  using Type = T;
};

/// The struct that the first member is of, and the type of the last.
template <auto First, auto... Rest>
struct Reached {
  using Options = typename MemberParts<decltype(First)>::Options;
  using Type = typename Reached<Rest...>::Type;
};
template <auto Only>
struct Reached<Only> {  // not derived: members may be of structs in unnamed namespaces
  using Options = typename MemberParts<decltype(Only)>::Options;
  using Type = typename MemberParts<decltype(Only)>::Type;
};

template <auto First, auto... Rest>
constexpr auto& reach(auto& options) {
  if constexpr (sizeof...(Rest) == 0)
    return options.*First;
  else
    return reach<Rest...>(options.*First);
}

/// What holds a member in a FieldValue.
template <class Type>
struct HeldAs {
  using Held = Type;
};
template <class Type>
requires std::is_integral_v<Type>
struct HeldAs<Type> {
  using Held = std::int64_t;
};
template <>
struct HeldAs<bool> {
  using Held = bool;
};
template <class Path>
requires requires(const Path& path) {
  path.native();
}
struct HeldAs<Path> {
  using Held = std::string;
};
template <>
struct HeldAs<std::vector<int>> {
  using Held = std::vector<std::int64_t>;
};
template <class Type>
struct HeldAs<std::optional<Type>> : HeldAs<Type> {};

template <class Held, class Type>
Held held(const Type& member) {
  if constexpr (requires { member.native(); })
    return member.string();
  else if constexpr (std::is_same_v<Type, std::vector<int>>)
    return {member.begin(), member.end()};
  else
    return static_cast<Held>(member);
}
template <class Type, class Held>
Type released(const Held& value) {
  if constexpr (std::is_same_v<Type, std::vector<int>>) {
    std::vector<int> numbers;
    for (const std::int64_t one : value) numbers.push_back(static_cast<int>(one));
    return numbers;
  } else {
    return static_cast<Type>(value);
  }
}

/// The place of a type among the alternatives of FieldValue, which FieldType numbers.
template <class Held>
constexpr FieldType type_of() {
  return []<class... All>(std::type_identity<std::variant<All...>>) {
    std::size_t at = 0;
    bool found = false;
    ((found = found || std::is_same_v<All, Held>, at += found ? 0U : 1U), ...);
    return static_cast<FieldType>(at);
  }(std::type_identity<FieldValue>{});
}

struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
/// Counts end where no search is made better and what is allocated for them could be beyond the machine.
inline constexpr double most_of_a_count = 1e6;
inline constexpr Bounds counted{0, most_of_a_count}, at_least_1{1, most_of_a_count};
inline constexpr Bounds share{0, 1}, amount{0}, above_0{0.001};

template <class Held, auto... Members>
constexpr Field field_as(std::string_view name, Bounds bounds, std::string_view summary) {
  using Options = typename Reached<Members...>::Options;
  using Type = typename Reached<Members...>::Type;
  Field row{.name = name, .summary = summary, .type = type_of<Held>()};
  row.least = bounds.least;
  row.most = bounds.most;
  row.read = [](const void* options) -> std::optional<FieldValue> {
    const auto& member = reach<Members...>(*static_cast<const Options*>(options));
    if constexpr (requires { member.has_value(); }) {
      if (!member) return std::nullopt;
      return FieldValue(held<Held>(*member));
    } else {
      return FieldValue(held<Held>(member));
    }
  };
  row.write = [](void* options, const FieldValue& value) {
    auto& member = reach<Members...>(*static_cast<Options*>(options));
    const auto* given = std::get_if<Held>(&value);
    if (given == nullptr) return;
    if constexpr (requires { member.has_value(); })
      member = released<typename Type::value_type>(*given);
    else
      member = released<Type>(*given);
  };
  return row;
}
template <auto... Members>
constexpr Field field(std::string_view name, Bounds bounds, std::string_view summary) {
  using Held = typename HeldAs<typename Reached<Members...>::Type>::Held;
  return field_as<Held, Members...>(name, bounds, summary);
}
template <auto... Members>
constexpr Field field(std::string_view name, std::string_view summary) {
  return field<Members...>(name, Bounds{}, summary);
}
/// A whole number of 64 bits, such as a seed, all of which can be given.
template <auto... Members>
constexpr Field natural(std::string_view name, std::string_view summary) {
  return field_as<std::uint64_t, Members...>(name, Bounds{}, summary);
}

/// For an enumeration: each enumerator has the number of its place in `Names`.
template <auto Member, const auto& Names>
constexpr Field choice(std::string_view name, std::string_view summary) {
  using Options = typename MemberParts<decltype(Member)>::Options;
  using Type = typename MemberParts<decltype(Member)>::Type;
  Field row{.name = name, .summary = summary, .type = FieldType::text};
  row.choices = Names;
  row.read = [](const void* options) -> std::optional<FieldValue> {
    const auto at = static_cast<std::size_t>(static_cast<const Options*>(options)->*Member);
    return FieldValue(std::string(Names[at]));
  };
  row.write = [](void* options, const FieldValue& value) {
    for (std::size_t i = 0; i < std::size(Names); ++i)
      if (const auto* text = std::get_if<std::string>(&value); text != nullptr && *text == Names[i])
        static_cast<Options*>(options)->*Member = static_cast<Type>(i);
  };
  return row;
}

}  // namespace kernelsearch::detail::fields
