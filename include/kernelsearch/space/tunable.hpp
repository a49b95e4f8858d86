// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

/// How a tunable's values relate, which decides its features, its steps and how a report shows it.
enum class TunableKind : std::uint8_t { integer, power_of_two, floating, boolean, categorical, permutation };

/// The kind's name: integer, power_of_two, floating, boolean, categorical, permutation.
[[nodiscard]] const char* to_string(TunableKind kind) noexcept;

/// What a tunable does to the kernel: for searches that treat it in a way of its own (HelionLfbo reads the
/// first two), and for what is learned from one kernel about another, whose tunables have other names.
enum class TunableRole : std::uint8_t {
  none,
  block_size,  ///< elements of one dimension that a block works on
  warps,       ///< warps of a block
  threads,     ///< threads of a block, or of one dimension of it
  tile,        ///< elements of one dimension that threads share
  work,        ///< elements that a thread computes
  vector,      ///< elements of a load or store
  unroll,      ///< turns of a loop that are written out
  stages,      ///< buffers of a pipeline, or how far loads run ahead
  shared,      ///< whether, or how much, data is kept in shared memory
  pad,         ///< elements added to rows, against bank conflicts
  layout,      ///< the order of data, of blocks or of loops
  algorithm    ///< which of several methods is used
};

/// Every role, `none` first.
inline constexpr TunableRole tunable_roles[] = {
    TunableRole::none,     TunableRole::block_size, TunableRole::warps,  TunableRole::threads,
    TunableRole::tile,     TunableRole::work,       TunableRole::vector, TunableRole::unroll,
    TunableRole::stages,   TunableRole::shared,     TunableRole::pad,    TunableRole::layout,
    TunableRole::algorithm};

/// The role's name, as it is written above.
[[nodiscard]] const char* to_string(TunableRole role) noexcept;

/// The names of the roles that can be declared, all but `none`: "block_size, warps, ...".
[[nodiscard]] std::string role_names();

/// The role of that name.
[[nodiscard]] std::optional<TunableRole> role_named(std::string_view name) noexcept;

/// A setting of a kernel: its name and its values in order. Neighbouring positions are neighbouring settings.
struct Tunable {
  std::string name;
  TunableKind kind = TunableKind::integer;
  std::vector<Value> values;
  std::size_t default_index = 0;
  /// Where given and false, the tunable has no effect and is pinned to its default, so that counts do not
  /// multiply. It may read other tunables, not this one.
  std::optional<Expression> active_if{};
  TunableRole role = TunableRole::none;

  /// first, first + step, ... up to and including `last` where it is hit; `step` may be negative.
  [[nodiscard]] static Tunable integer(std::string name, std::int64_t first, std::int64_t last,
                                       std::int64_t step = 1);
  /// The integers as listed.
  [[nodiscard]] static Tunable integers(std::string name, std::span<const std::int64_t> values);
  /// The powers of two from `first` to `last`, which are powers of two themselves.
  [[nodiscard]] static Tunable power_of_two(std::string name, std::int64_t first, std::int64_t last);
  /// The numbers as listed.
  [[nodiscard]] static Tunable floating(std::string name, std::span<const double> values);
  /// false and true.
  [[nodiscard]] static Tunable boolean(std::string name);
  /// Names without an order.
  [[nodiscard]] static Tunable categorical(std::string name, std::span<const std::string> values);
  /// Every order of 0..n-1 (n at most 8), the identity first.
  [[nodiscard]] static Tunable permutation(std::string name, std::size_t n);
  /// The values as listed, the kind read off them: powers of two, other integers, numbers, booleans, orders,
  /// else categorical.
  [[nodiscard]] static Tunable of(std::string name, std::vector<Value> values);

  /// A copy with the default `value`, which must be one of the values.
  [[nodiscard]] Tunable with_default(const Value& value) const;
  /// A copy that counts only where `condition` holds.
  [[nodiscard]] Tunable when(std::string_view condition) const;

  /// The position of `value`; numbers equal in value match across bool, int and float.
  [[nodiscard]] std::optional<std::size_t> position(const Value& value) const;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/tunable_impl.hpp"
#endif
