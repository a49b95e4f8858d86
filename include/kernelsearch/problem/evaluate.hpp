// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The expression's value where its names are found among `variables`, then among `more` (say the tunables);
/// a name found in neither is a ConfigError that calls the expression `what`.
[[nodiscard]] Value evaluate(const Expression& expression, std::span<const NamedValue> variables,
                             std::span<const NamedValue> more = {}, std::string_view what = "an expression");

namespace detail {
[[nodiscard]] Value evaluate_at(const Expression& expression, const Shape& shape,
                                std::span<const NamedValue> more, std::string_view what);
}  // namespace detail

/// The same over a shape's variables and what the problem's generator says of it. (A template, so that `{}`
/// still means no variables.)
template <std::same_as<Shape> S>
[[nodiscard]] Value evaluate(const Expression& expression, const S& shape,
                             std::span<const NamedValue> more = {}, std::string_view what = "an expression") {
  return detail::evaluate_at(expression, shape, more, what);
}

/// The names of the space's tunables with their values in `config`.
[[nodiscard]] std::vector<NamedValue> named_values(const Space& space, const Config& config);

/// True as Python sees it: not 0, not empty.
[[nodiscard]] bool is_true(const Value& value) noexcept;

/// Whether the problem's predicate accepts `config` for `shape`. Rejected is not failed. Where the predicate
/// cannot be evaluated it accepts nothing.
[[nodiscard]] bool is_valid(const Problem& problem, const Shape& shape, const Config& config);

/// The same of a kernel that may have a space of its own; a tunable of the problem that it lacks is at the
/// problem's default.
[[nodiscard]] bool is_valid(const Problem& problem, const Shape& shape, const Candidate& candidate);

}  // namespace kernelsearch
