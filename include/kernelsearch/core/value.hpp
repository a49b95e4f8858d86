// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// An order of 0..n-1.
using Permutation = std::vector<std::int64_t>;

/// What a tunable, a scalar argument or an expression can be.
using Value = std::variant<bool, std::int64_t, double, std::string, Permutation>;

/// The value as source text and as cache-file key: `true`, `16`, `0.5`, `float4`, `[1, 0, 2]`. Doubles print
/// with the fewest digits that read back the same and always carry a point or an exponent.
[[nodiscard]] std::string to_string(const Value& value);

/// The value as a number: booleans 0 or 1; nothing for strings and permutations, which have no number.
[[nodiscard]] std::optional<double> try_to_number(const Value& value) noexcept;

/// The same; ConfigError for strings and permutations.
[[nodiscard]] double to_number(const Value& value);

/// The name of the value's type as error texts use it: bool, int, float, string, permutation.
[[nodiscard]] const char* type_name(const Value& value) noexcept;

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/value_impl.hpp"
#endif
