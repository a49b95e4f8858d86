// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/impl/steps_impl.hpp"
#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch {
namespace detail {

constexpr std::size_t most_values = std::size_t{1} << 22;

inline TunableKind kind_of(const std::vector<Value>& values) noexcept {
  const auto all = [&](auto&& test) { return std::all_of(values.begin(), values.end(), test); };
  if (all([](const Value& v) { return std::holds_alternative<bool>(v); })) return TunableKind::boolean;
  if (all(is_power_of_two)) return TunableKind::power_of_two;
  if (all([](const Value& v) { return std::holds_alternative<std::int64_t>(v); }))
    return TunableKind::integer;
  if (all([](const Value& v) { return v.index() <= 2 && !std::holds_alternative<bool>(v); }))
    return TunableKind::floating;
  if (all([](const Value& v) { return std::holds_alternative<Permutation>(v); }))
    return TunableKind::permutation;
  return TunableKind::categorical;
}

}  // namespace detail

KERNELSEARCH_INLINE const char* to_string(TunableKind kind) noexcept {
  constexpr const char* names[] = {"integer", "power_of_two", "floating",
                                   "boolean", "categorical",  "permutation"};
  return names[static_cast<std::size_t>(kind)];
}

KERNELSEARCH_INLINE const char* to_string(TunableRole role) noexcept {
  constexpr const char* names[] = {"none", "block_size", "warps",    "threads", "tile",
                                   "work", "vector",     "unroll",   "stages",  "shared",
                                   "pad",  "layout",     "algorithm"};
  return names[static_cast<std::size_t>(role)];
}

KERNELSEARCH_INLINE std::string role_names() {
  std::string names;
  for (const TunableRole role : tunable_roles)
    if (role != TunableRole::none) (names += names.empty() ? "" : ", ") += to_string(role);
  return names;
}

KERNELSEARCH_INLINE std::optional<TunableRole> role_named(std::string_view name) noexcept {
  for (const TunableRole role : tunable_roles)
    if (name == to_string(role)) return role;
  return std::nullopt;
}

KERNELSEARCH_INLINE Tunable Tunable::integer(std::string name, std::int64_t first, std::int64_t last,
                                             std::int64_t step) {
  const bool upward = step > 0;
  if (step == 0 || (upward ? last < first : last > first)) {
    detail::raise<ConfigError>("an integer tunable has no values",
                               name + " from " + std::to_string(first) + " to " + std::to_string(last) +
                                   " by " + std::to_string(step),
                               "give a range that is not empty");
  }
  const auto distance = upward ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)
                               : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(last);
  const std::uint64_t stride =
      upward ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  if (distance / stride >= detail::most_values) {
    detail::raise<ConfigError>("an integer tunable has too many values", name,
                               "use a larger step or powers of two");
  }
  Tunable tunable{std::move(name), TunableKind::integer, {}};
  for (std::uint64_t i = 0; i <= distance / stride; ++i) {
    tunable.values.emplace_back(first + static_cast<std::int64_t>(i) * step);
  }
  return tunable;
}

KERNELSEARCH_INLINE Tunable Tunable::integers(std::string name, std::span<const std::int64_t> values) {
  return {std::move(name), TunableKind::integer, {values.begin(), values.end()}};
}

KERNELSEARCH_INLINE Tunable Tunable::power_of_two(std::string name, std::int64_t first, std::int64_t last) {
  if (!detail::is_power_of_two(first) || !detail::is_power_of_two(last) || last < first) {
    detail::raise<ConfigError>("a power-of-two tunable needs powers of two",
                               name + " from " + std::to_string(first) + " to " + std::to_string(last),
                               "give two powers of two, the smaller one first");
  }
  Tunable tunable{std::move(name), TunableKind::power_of_two, {}};
  for (std::uint64_t i = static_cast<std::uint64_t>(first); i <= static_cast<std::uint64_t>(last); i *= 2) {
    tunable.values.emplace_back(static_cast<std::int64_t>(i));
  }
  return tunable;
}

KERNELSEARCH_INLINE Tunable Tunable::floating(std::string name, std::span<const double> values) {
  return {std::move(name), TunableKind::floating, {values.begin(), values.end()}};
}

KERNELSEARCH_INLINE Tunable Tunable::boolean(std::string name) {
  return {std::move(name), TunableKind::boolean, {false, true}};
}

KERNELSEARCH_INLINE Tunable Tunable::categorical(std::string name, std::span<const std::string> values) {
  return {std::move(name), TunableKind::categorical, {values.begin(), values.end()}};
}

KERNELSEARCH_INLINE Tunable Tunable::permutation(std::string name, std::size_t n) {
  if (n == 0 || n > 8) {
    detail::raise<ConfigError>("a permutation tunable lists every order",
                               name + " of " + std::to_string(n) + " items",
                               "use 1 to 8 items, or list the orders that make sense");
  }
  Permutation order(n);
  std::iota(order.begin(), order.end(), 0);
  Tunable tunable{std::move(name), TunableKind::permutation, {}};
  do {
    tunable.values.emplace_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return tunable;
}

KERNELSEARCH_INLINE Tunable Tunable::of(std::string name, std::vector<Value> values) {
  const TunableKind kind = detail::kind_of(values);
  return {std::move(name), kind, std::move(values)};
}

KERNELSEARCH_INLINE Tunable Tunable::with_default(const Value& value) const {
  const std::optional<std::size_t> at = position(value);
  if (!at) {
    detail::raise<ConfigError>("a default is not one of the tunable's values",
                               name + " = " + to_string(value), "choose one of the values or add it");
  }
  Tunable copy = *this;
  copy.default_index = *at;
  return copy;
}

KERNELSEARCH_INLINE Tunable Tunable::when(std::string_view condition) const {
  Tunable copy = *this;
  copy.active_if = Expression::parse(condition);
  return copy;
}

KERNELSEARCH_INLINE std::optional<std::size_t> Tunable::position(const Value& value) const {
  const auto exact = std::find(values.begin(), values.end(), value);
  if (exact != values.end()) return static_cast<std::size_t>(exact - values.begin());
  if (value.index() > 2) return std::nullopt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].index() <= 2 && to_number(values[i]) == to_number(value)) return i;
  }
  return std::nullopt;
}

}  // namespace kernelsearch
