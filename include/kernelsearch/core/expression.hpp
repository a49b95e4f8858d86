// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

namespace detail {
struct ExpressionData;
}

/// A formula in the part of Python that tuning spaces are written in: numbers, strings, lists, names, chained
/// comparisons, `and or not in`, `+ - * / // % **`, `a if c else b`, indexing, list comprehensions and the
/// calls `min max abs len sum range list tuple int float round`. Values behave as in Python, with two limits:
/// integers are 64 bits wide and an evaluation ends after ten million steps; passing either is an error.
/// Parsed and compiled once; copies share the program; evaluating is const and safe from several threads.
class Expression {
 public:
  /// Parses `text`; a ConfigError names the position, what is there and what was expected.
  [[nodiscard]] static Expression parse(std::string_view text);

  /// The same without raising.
  [[nodiscard]] static Result<Expression> try_parse(std::string_view text);

  /// The same: empty, with the message in `error`, where `text` is not an expression.
  [[nodiscard]] static std::optional<Expression> try_parse(std::string_view text, std::string& error);

  /// The text as parsed.
  [[nodiscard]] const std::string& text() const noexcept;

  /// The free names: in order of first use, or as given to `bind`. Position = position of their value.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept;

  /// True where the formula reads value `slot`; after `bind` some need not be read.
  [[nodiscard]] bool uses(std::size_t slot) const noexcept;

  /// The same formula reading its values in the order of `names`; a free name that is missing there is a
  /// ConfigError with the nearest known one.
  [[nodiscard]] Expression bind(std::span<const std::string> names) const;

  /// The result for `values` (one per name). Lists of integers come as Permutation. Errors are ConfigErrors.
  [[nodiscard]] Value evaluate(std::span<const Value> values = {}) const;

  /// The elements of a result that is a list, tuple or range.
  [[nodiscard]] std::vector<Value> evaluate_list(std::span<const Value> values = {}) const;

  /// Whether the result is true as Python sees it: not 0, not empty.
  [[nodiscard]] bool evaluate_bool(std::span<const Value> values = {}) const;

  /// The result as a number; whole numbers are passed in as integers.
  [[nodiscard]] double evaluate_number(std::span<const double> values = {}) const;

  /// As `evaluate`, but empty on an error, whose message goes to `error` unless that is null.
  [[nodiscard]] std::optional<Value> try_evaluate(std::span<const Value> values,
                                                  std::string* error = nullptr) const;

  /// As `evaluate_list`, but empty on an error.
  [[nodiscard]] std::optional<std::vector<Value>> try_evaluate_list(std::span<const Value> values,
                                                                    std::string* error = nullptr) const;

  /// As `evaluate_bool`, but empty on an error.
  [[nodiscard]] std::optional<bool> try_test(std::span<const Value> values,
                                             std::string* error = nullptr) const;

  /// The truth of the result for integer values; empty on an error. Allocates nothing unless the formula has
  /// strings or lists.
  [[nodiscard]] std::optional<bool> test_integers(std::span<const std::int64_t> values) const;

  /// The parsed and compiled form; for the library's own use.
  [[nodiscard]] const detail::ExpressionData& data() const noexcept { return *data_; }

 private:
  explicit Expression(std::shared_ptr<const detail::ExpressionData> data) : data_(std::move(data)) {}
  std::shared_ptr<const detail::ExpressionData> data_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/expression_impl.hpp"
#endif
