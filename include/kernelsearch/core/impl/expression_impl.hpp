// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/impl/expression_machine_impl.hpp"
#include "kernelsearch/core/impl/expression_parser_impl.hpp"

namespace kernelsearch {
namespace detail {

inline std::optional<Value> ExprMachine::value(const ExprCell& cell) {
  switch (cell.kind) {
    case Kind::boolean:
      return Value{cell.integer != 0};
    case Kind::integer:
      return Value{cell.integer};
    case Kind::real:
      return Value{cell.real};
    case Kind::string:
      return Value{strings_[static_cast<std::size_t>(cell.integer)]};
    default:
      break;
  }
  ExprCell list;
  Permutation order;
  if (!to_list(cell, list)) return std::nullopt;
  for (const ExprCell& item : lists_[static_cast<std::size_t>(list.integer)]) {
    if (item.kind != Kind::integer) return fault(ExprFault::result_kind), std::nullopt;
    order.push_back(item.integer);
  }
  return Value{std::move(order)};
}

inline std::optional<std::vector<Value>> ExprMachine::values(const ExprCell& cell) {
  ExprCell list;
  if (!to_list(cell, list)) return std::nullopt;
  const std::vector<ExprCell> items = lists_[static_cast<std::size_t>(list.integer)];
  std::vector<Value> out;
  out.reserve(items.size());
  for (const ExprCell& item : items) {
    std::optional<Value> one = value(item);
    if (!one) return std::nullopt;
    out.push_back(std::move(*one));
  }
  return out;
}

inline std::string ExprMachine::fault_text() const {
  const char* what = "";
  switch (fault_) {
    case ExprFault::none:
      break;
    case ExprFault::types:
      what = "the operand has the wrong type";
      break;
    case ExprFault::zero_division:
      what = "division by zero";
      break;
    case ExprFault::overflow:
      what = "an integer beyond 64 bits or a float beyond its range";
      break;
    case ExprFault::range_of_index:
      what = "the index is outside the sequence";
      break;
    case ExprFault::empty_sequence:
      what = "min or max of nothing";
      break;
    case ExprFault::steps:
      what = "more than ten million steps";
      break;
    case ExprFault::memory:
      what = "more than two million list elements";
      break;
    case ExprFault::domain:
      what = "the operation has no result for these numbers";
      break;
    case ExprFault::not_a_number:
      what = "this is not a number";
      break;
    case ExprFault::step_zero:
      what = "the step of range is zero";
      break;
    case ExprFault::result_kind:
      what = "the result holds a list of something else than integers";
      break;
  }
  return "at character " + std::to_string(fault_position_ + 1) + " of `" + quoted_expression(data_.text) +
         "`: " + what;
}

/// Reads values for the machine; too few of them is the caller's mistake.
struct ValueLoader {
  ExprMachine& machine;
  std::span<const Value> values;
  ExprCell operator()(std::uint32_t slot) const { return machine.cell(values[slot]); }
};

inline void need_values(const ExpressionData& data, std::size_t given) {
  if (given >= data.names.size()) return;
  raise<ConfigError>("an expression was given too few values",
                     std::to_string(given) + " for `" + quoted_expression(data.text) + "`",
                     "pass " + std::to_string(data.names.size()) + ", in the order of names()");
}

[[noreturn]] inline void raise_evaluation(const std::string& error) {
  raise<ConfigError>("an expression has no result", error, "correct the expression or its values");
}

}  // namespace detail

KERNELSEARCH_INLINE std::optional<Expression> Expression::try_parse(std::string_view text,
                                                                    std::string& error) {
  auto data = std::make_shared<detail::ExpressionData>();
  if (!detail::parse_expression(text, *data, error) || !detail::compile_expression(*data, error))
    return std::nullopt;
  return Expression(std::move(data));
}

KERNELSEARCH_INLINE Result<Expression> Expression::try_parse(std::string_view text) {
  std::string error;
  std::optional<Expression> parsed = try_parse(text, error);
  if (!parsed)
    return Fault{"not an expression", std::move(error), "see docs/formats for what an expression may hold"};
  return *std::move(parsed);
}

KERNELSEARCH_INLINE Expression Expression::parse(std::string_view text) {
  return detail::value_or_raise(try_parse(text));
}

KERNELSEARCH_INLINE const std::string& Expression::text() const noexcept {
  return data_->text;
}
KERNELSEARCH_INLINE const std::vector<std::string>& Expression::names() const noexcept {
  return data_->names;
}
KERNELSEARCH_INLINE bool Expression::uses(std::size_t slot) const noexcept {
  return slot < data_->used.size() && data_->used[slot];
}

KERNELSEARCH_INLINE Expression Expression::bind(std::span<const std::string> names) const {
  std::vector<std::uint32_t> slots;
  std::vector<bool> used(names.size(), false);
  for (std::size_t old = 0; old < data_->names.size(); ++old) {
    const std::string& name = data_->names[old];
    std::size_t slot = 0;
    while (slot < names.size() && names[slot] != name) ++slot;
    slots.push_back(static_cast<std::uint32_t>(slot));
    if (slot < names.size()) {
      used[slot] = used[slot] || data_->used[old];
    } else if (data_->used[old]) {
      const std::string near = nearest_name(name, names);
      detail::raise<ConfigError>("an expression reads an unknown name",
                                 "\"" + name + "\" in `" + detail::quoted_expression(data_->text) + "`",
                                 near.empty() ? "declare it" : "did you mean \"" + near + "\"?");
    }
  }
  auto data = std::make_shared<detail::ExpressionData>(*data_);
  for (detail::ExprNode& node : data->nodes) {
    if (node.op == detail::ExprOp::name && node.slot < slots.size()) node.slot = slots[node.slot];
  }
  for (detail::ExprInstruction& at : data->program) {
    if (at.op == static_cast<std::uint8_t>(detail::ExprCode::load)) at.argument = slots[at.argument];
  }
  data->names.assign(names.begin(), names.end());
  data->used = std::move(used);
  return Expression(std::move(data));
}

KERNELSEARCH_INLINE std::optional<Value> Expression::try_evaluate(std::span<const Value> values,
                                                                  std::string* error) const {
  detail::need_values(*data_, values.size());
  detail::ExprMachine machine(*data_);
  detail::ExprCell cell;
  std::optional<Value> result;
  if (machine.run(detail::ValueLoader{machine, values}, cell)) result = machine.value(cell);
  if (!result && error != nullptr) *error = machine.fault_text();
  return result;
}

KERNELSEARCH_INLINE std::optional<std::vector<Value>> Expression::try_evaluate_list(
    std::span<const Value> values, std::string* error) const {
  detail::need_values(*data_, values.size());
  detail::ExprMachine machine(*data_);
  detail::ExprCell cell;
  std::optional<std::vector<Value>> result;
  if (machine.run(detail::ValueLoader{machine, values}, cell)) result = machine.values(cell);
  if (!result && error != nullptr) *error = machine.fault_text();
  return result;
}

KERNELSEARCH_INLINE Value Expression::evaluate(std::span<const Value> values) const {
  std::string error;
  std::optional<Value> result = try_evaluate(values, &error);
  if (!result) detail::raise_evaluation(error);
  return std::move(*result);
}

KERNELSEARCH_INLINE std::vector<Value> Expression::evaluate_list(std::span<const Value> values) const {
  std::string error;
  std::optional<std::vector<Value>> result = try_evaluate_list(values, &error);
  if (!result) detail::raise_evaluation(error);
  return std::move(*result);
}

KERNELSEARCH_INLINE std::optional<bool> Expression::try_test(std::span<const Value> values,
                                                             std::string* error) const {
  detail::need_values(*data_, values.size());
  detail::ExprMachine machine(*data_);
  detail::ExprCell cell;
  if (machine.run(detail::ValueLoader{machine, values}, cell)) return machine.truth(cell);
  if (error != nullptr) *error = machine.fault_text();
  return std::nullopt;
}

KERNELSEARCH_INLINE bool Expression::evaluate_bool(std::span<const Value> values) const {
  std::string error;
  const std::optional<bool> result = try_test(values, &error);
  if (!result) detail::raise_evaluation(error);
  return *result;
}

KERNELSEARCH_INLINE double Expression::evaluate_number(std::span<const double> values) const {
  detail::need_values(*data_, values.size());
  detail::ExprMachine machine(*data_);
  detail::ExprCell cell;
  const auto load = [&](std::uint32_t slot) {
    const double value = values[slot];
    const bool whole = std::abs(value) < 0x1p53 && value == std::floor(value);
    return whole ? detail::ExprCell::of(static_cast<std::int64_t>(value)) : detail::ExprCell::of(value);
  };
  if (!machine.run(load, cell)) detail::raise_evaluation(machine.fault_text());
  if (!cell.number()) {
    detail::raise<ConfigError>("an expression is not a number",
                               "`" + detail::quoted_expression(data_->text) + "`", "make it one");
  }
  return cell.as_real();
}

KERNELSEARCH_INLINE std::optional<bool> Expression::test_integers(
    std::span<const std::int64_t> values) const {
  detail::need_values(*data_, values.size());
  detail::ExprMachine machine(*data_);
  detail::ExprCell cell;
  if (!machine.run([&](std::uint32_t slot) { return detail::ExprCell::of(values[slot]); }, cell))
    return std::nullopt;
  return machine.truth(cell);
}

}  // namespace kernelsearch
