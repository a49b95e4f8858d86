// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

enum class ExprOp : std::uint8_t {
  literal,
  name,
  local,
  list,  // leaves and displays
  logical_and,
  logical_or,
  logical_not,
  negate,
  plus,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  in,
  not_in,
  conditional,    // args: condition, then, else
  call,           // function, args
  comprehension,  // args: element, then per clause its expression; `clauses` tells which
  index,          // args: sequence, position
};

enum class ExprFunction : std::uint8_t {
  min,
  max,
  abs,
  len,
  sum,
  range,
  list,
  tuple,
  to_int,
  to_float,
  round
};

/// One `for` (with the slot of its variable) or one `if` of a comprehension.
struct ExprClause {
  bool is_for = false;
  std::string name;
  std::uint32_t slot = 0;
};

/// One node of a formula. Nodes refer to each other by index and may be shared (the middle of a chained
/// comparison), so the tree is a graph without cycles; everything is pure, so sharing changes nothing.
struct ExprNode {
  ExprOp op = ExprOp::literal;
  ExprFunction function = ExprFunction::min;
  std::uint32_t position = 0;  // in the text, for messages
  std::uint32_t slot = 0;      // of a name or local
  std::uint32_t depth = 1;
  Value literal = std::int64_t{0};
  std::string name;
  std::vector<std::uint32_t> args;
  std::vector<ExprClause> clauses;
};

/// Why and where an evaluation failed; turned into text only when somebody asks.
enum class ExprFault : std::uint8_t {
  none,
  types,
  zero_division,
  overflow,
  range_of_index,
  empty_sequence,
  steps,
  memory,
  domain,
  not_a_number,
  step_zero,
  result_kind,
};

struct ExprInstruction {
  std::uint8_t op = 0;
  std::uint8_t function = 0;
  std::uint32_t argument = 0;
  std::uint32_t position = 0;
};

/// A formula's text, tree and program; shared and never changed after parsing.
struct ExpressionData {
  std::string text;
  std::vector<ExprNode> nodes;
  std::uint32_t root = 0;
  std::vector<std::string> names;  // slot -> name
  std::vector<bool> used;          // slot -> read at all
  std::uint32_t local_count = 0;
  std::vector<ExprInstruction> program;
  std::vector<Value> constants;
  std::uint32_t stack_depth = 0;
};

/// The limits that keep hostile text from exhausting stack or memory.
struct ExprLimits {
  static constexpr std::size_t text = std::size_t{1} << 20;
  static constexpr std::uint32_t nesting = 400;  // brackets, prefix operators and so on while parsing
  static constexpr std::uint32_t depth = 1000;   // of the tree: a sum of 1000 terms is that deep
  static constexpr std::size_t program = std::size_t{1} << 18;
  static constexpr std::uint64_t steps = 10'000'000;
  static constexpr std::size_t cells = std::size_t{1} << 21;  // list elements and characters alive at once
};

/// Parses `text` into nodes; false with the message in `error` where it is not an expression.
bool parse_expression(std::string_view text, ExpressionData& data, std::string& error);

/// Assigns slots to names and locals and compiles the program; false with the message in `error`.
bool compile_expression(ExpressionData& data, std::string& error);

/// `text` for messages: its start where it is long.
[[nodiscard]] std::string quoted_expression(std::string_view text);

}  // namespace kernelsearch::detail
