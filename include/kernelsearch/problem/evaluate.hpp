// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/problem/shape.hpp"

namespace kernelsearch {

/// The expression's value where its names are found among `variables`, then among `more` (say the tunables);
/// a name found in neither is a ConfigError that calls the expression `what`.
[[nodiscard]] Value evaluate(const Expression& expression, std::span<const NamedValue> variables,
                             std::span<const NamedValue> more = {}, std::string_view what = "an expression");

}  // namespace kernelsearch
