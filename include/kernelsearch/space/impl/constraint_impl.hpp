// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/space/constraint.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Constraint::Constraint(Expression expression)
    : names_(expression.names()), text_(expression.text()), expression_(std::move(expression)) {}

KERNELSEARCH_INLINE Constraint::Constraint(std::string_view text) : Constraint(Expression::parse(text)) {}

KERNELSEARCH_INLINE Constraint::Constraint(const char* text) : Constraint(std::string_view(text)) {}

KERNELSEARCH_INLINE Constraint::Constraint(const std::string& text) : Constraint(std::string_view(text)) {}

KERNELSEARCH_INLINE Constraint::Constraint(std::vector<std::string> names, Function function,
                                           std::string label)
    : names_(std::move(names)), text_(std::move(label)), function_(std::move(function)) {}

KERNELSEARCH_INLINE bool Constraint::holds(std::span<const Value> values) const {
  return expression_ ? expression_->try_test(values).value_or(false) : function_(values);
}

}  // namespace kernelsearch
