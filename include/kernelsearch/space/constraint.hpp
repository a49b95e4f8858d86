// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

/// A condition that valid configurations meet: an expression, or a function of the values of named tunables.
/// A configuration for which an expression fails to evaluate (a division by zero, say) is not valid.
class Constraint {
 public:
  using Function = std::function<bool(std::span<const Value>)>;

  Constraint(Expression expression);    // NOLINT: an expression is a constraint
  Constraint(std::string_view text);    // NOLINT: and so is its text
  Constraint(const char* text);         // NOLINT
  Constraint(const std::string& text);  // NOLINT

  /// `function` gets the values of `names` in that order; it must depend on nothing else. `label` is how
  /// messages call it.
  Constraint(std::vector<std::string> names, Function function, std::string label = "a function");

  /// The tunables it reads.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// The expression's text or the label.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The expression, where it is one.
  [[nodiscard]] const std::optional<Expression>& expression() const noexcept { return expression_; }

  /// Whether it holds for the values of `names()`.
  [[nodiscard]] bool holds(std::span<const Value> values) const;

 private:
  std::vector<std::string> names_;
  std::string text_;
  std::optional<Expression> expression_;
  Function function_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/constraint_impl.hpp"
#endif
