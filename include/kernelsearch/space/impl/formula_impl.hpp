// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "kernelsearch/space/impl/formula.hpp"
#include "kernelsearch/space/impl/trie_impl.hpp"

namespace kernelsearch::detail {

constexpr double formula_integer_limit = 0x1p62;
constexpr double formula_exact_limit = 0x1p53;  // integers up to here are exact as doubles

inline bool is_many(FormulaOp op) noexcept {
  return op == FormulaOp::add || op == FormulaOp::multiply || op == FormulaOp::logical_and ||
         op == FormulaOp::logical_or;
}
inline bool is_logic(FormulaOp op) noexcept {
  return op == FormulaOp::logical_and || op == FormulaOp::logical_or || op == FormulaOp::logical_not;
}
inline bool is_comparison(FormulaOp op) noexcept {
  return op == FormulaOp::less || op == FormulaOp::less_equal || op == FormulaOp::equal ||
         op == FormulaOp::not_equal;
}

/// `n` rows of any operation over operand columns; more than two operands are combined from left to right.
inline void apply_any(FormulaOp op, bool real_operands, std::size_t n, Word* out,
                      const std::vector<WordColumn>& args) {
  if (op == FormulaOp::select) return apply_select(n, out, args[0], args[1], args[2]);
  if (args.size() == 1) return apply(op, real_operands, n, out, args[0]);
  apply(op, real_operands, n, out, args[0], args[1]);
  for (std::size_t i = 2; i < args.size(); ++i)
    apply(op, real_operands, n, out, WordColumn{out, true}, args[i]);
}

KERNELSEARCH_INLINE NodeId Formulas::intern(FormulaNode node) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(node.op), node.real ? 1 : 0);
  for (const NodeId arg : node.args) hash = mix(hash, arg);
  if (node.op == FormulaOp::leaf) hash = mix(hash, node.scope[0]);
  for (const Word word : node.table) hash = mix(hash, static_cast<std::uint64_t>(word));
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const FormulaNode& other = nodes_[it->second];
    if (other.op == node.op && other.real == node.real && other.args == node.args &&
        other.table == node.table && other.scope == node.scope) {
      return it->second;
    }
  }
  nodes_.push_back(std::move(node));
  const auto id = static_cast<NodeId>(nodes_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

KERNELSEARCH_INLINE NodeId Formulas::constant(Word word, bool real) {
  FormulaNode node;
  node.real = real;
  node.low = node.high = real ? real_of(word) : static_cast<double>(word);
  node.table = {word};
  if (real ? !std::isfinite(node.low) : std::abs(node.low) >= formula_integer_limit) return none;
  return intern(std::move(node));
}

KERNELSEARCH_INLINE NodeId Formulas::leaf(std::uint32_t tunable, std::vector<Word> table, bool real) {
  if (std::all_of(table.begin(), table.end(), [&](Word word) { return word == table[0]; }))
    return constant(table[0], real);
  FormulaNode node;
  node.op = FormulaOp::leaf;
  node.real = real;
  node.low = std::numeric_limits<double>::infinity();
  node.high = -node.low;
  for (const Word word : table) {
    const double value = real ? real_of(word) : static_cast<double>(word);
    if (real ? !std::isfinite(value) : std::abs(value) >= formula_integer_limit) return none;
    node.low = std::min(node.low, value);
    node.high = std::max(node.high, value);
  }
  node.scope = {tunable};
  node.table = std::move(table);
  return intern(std::move(node));
}

KERNELSEARCH_INLINE std::vector<std::uint32_t> Formulas::scope_of(const std::vector<NodeId>& args) const {
  std::vector<std::uint32_t> scope;
  for (const NodeId arg : args) scope.insert(scope.end(), nodes_[arg].scope.begin(), nodes_[arg].scope.end());
  std::sort(scope.begin(), scope.end());
  scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
  return scope;
}

/// Computes an operation over at most one tunable for all its values.
KERNELSEARCH_INLINE NodeId Formulas::fold(FormulaOp op, const std::vector<NodeId>& args,
                                          const std::vector<std::uint32_t>& scope) {
  const std::size_t n = scope.empty() ? 1 : sizes_[scope[0]];
  std::vector<WordColumn> columns;
  for (const NodeId arg : args)
    columns.push_back({nodes_[arg].table.data(), nodes_[arg].op == FormulaOp::leaf});
  const bool real_operands = nodes_[args.back()].real;
  if (op == FormulaOp::divide || op == FormulaOp::floor_divide || op == FormulaOp::modulo) {
    const std::vector<Word>& divisor = nodes_[args[1]].table;
    for (const Word word : divisor) {
      if (real_operands ? real_of(word) == 0.0 : word == 0) return none;
    }
  }
  std::vector<Word> out(n);
  apply_any(op, real_operands, n, out.data(), columns);
  const bool real = !is_comparison(op) && !is_logic(op) &&
                    (op == FormulaOp::divide || op == FormulaOp::to_real || real_operands);
  return scope.empty() ? constant(out[0], real) : leaf(scope[0], std::move(out), real);
}

KERNELSEARCH_INLINE bool Formulas::to_reals(std::vector<NodeId>& args, std::size_t from) {
  for (std::size_t i = from; i < args.size(); ++i) {
    const FormulaNode& arg = nodes_[args[i]];
    if (arg.real) continue;
    if (std::max(std::abs(arg.low), std::abs(arg.high)) > formula_exact_limit) return false;
    args[i] = make(FormulaOp::to_real, {args[i]});
  }
  return true;
}

KERNELSEARCH_INLINE NodeId Formulas::truth(NodeId a) {
  if (a == none || is_boolean(a)) return a;
  return make(FormulaOp::not_equal, {a, constant(0, nodes_[a].real)});
}

KERNELSEARCH_INLINE NodeId Formulas::make(FormulaOp op, std::vector<NodeId> args) {
  if (std::find(args.begin(), args.end(), none) != args.end()) return none;
  const std::size_t first_number = op == FormulaOp::select ? 1 : 0;
  const bool any_real = std::any_of(args.begin() + static_cast<std::ptrdiff_t>(first_number), args.end(),
                                    [&](NodeId arg) { return nodes_[arg].real; });
  if ((any_real || op == FormulaOp::divide) && op != FormulaOp::to_real && !is_logic(op) &&
      !to_reals(args, first_number))
    return none;
  if (is_logic(op) || op == FormulaOp::select) {
    for (std::size_t i = 0; i < (op == FormulaOp::select ? 1 : args.size()); ++i) args[i] = truth(args[i]);
  }
  if (is_many(op) && (!any_real || is_logic(op))) return make_many(op, std::move(args));
  FormulaNode node;
  node.op = op;
  node.scope = scope_of(args);
  node.real = op == FormulaOp::to_real || op == FormulaOp::divide ||
              (!is_comparison(op) && !is_logic(op) && nodes_[args.back()].real);
  node.args = args;
  const bool bounded = bounds(node);
  if (node.scope.size() <= 1) {
    // The interval may be too wide to tell: `x % (y - 1)` over one tunable is decided by its values instead.
    if (!bounded && op != FormulaOp::divide && op != FormulaOp::floor_divide && op != FormulaOp::modulo)
      return none;
    return fold(op, args, node.scope);
  }
  if (!bounded) return none;
  if (!node.real && node.low == node.high && std::abs(node.low) < formula_exact_limit)
    return constant(static_cast<Word>(node.low), false);
  return intern(std::move(node));
}

/// Sums, products, conjunctions and disjunctions of any number of operands: nested ones are merged, constants
/// and operands over the same tunable become one.
KERNELSEARCH_INLINE NodeId Formulas::make_many(FormulaOp op, std::vector<NodeId> args) {
  std::vector<NodeId> flat;
  for (const NodeId arg : args) {
    if (nodes_[arg].op == op && !nodes_[arg].real)
      flat.insert(flat.end(), nodes_[arg].args.begin(), nodes_[arg].args.end());
    else
      flat.push_back(arg);
  }
  double most = op == FormulaOp::multiply ? 1.0 : 0.0;  // of any partial result, in any order
  for (const NodeId arg : flat) {
    const double size = std::max(std::abs(nodes_[arg].low), std::abs(nodes_[arg].high));
    if (op == FormulaOp::multiply)
      most *= std::max(1.0, size);
    else
      most += size;
  }
  if (most >= formula_integer_limit) return none;
  const auto key = [&](NodeId arg) {
    const FormulaNode& node = nodes_[arg];
    return node.scope.size() == 1 ? std::int64_t{node.scope[0]}
           : node.scope.empty()   ? std::int64_t{-1}
                                  : std::numeric_limits<std::int64_t>::max();
  };
  std::sort(flat.begin(), flat.end(),
            [&](NodeId a, NodeId b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  if (is_logic(op)) flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  std::vector<NodeId> merged;
  for (std::size_t i = 0; i < flat.size();) {
    std::size_t end = i + 1;
    if (nodes_[flat[i]].scope.size() <= 1) {
      while (end < flat.size() && key(flat[end]) == key(flat[i])) ++end;
    }
    merged.push_back(end == i + 1 ? flat[i]
                                  : fold(op,
                                         {flat.begin() + static_cast<std::ptrdiff_t>(i),
                                          flat.begin() + static_cast<std::ptrdiff_t>(end)},
                                         nodes_[flat[i]].scope));
    if (merged.back() == none) return none;
    i = end;
  }
  // Folding may have left constants: the neutral ones vanish, the deciding ones decide.
  Word total = op == FormulaOp::multiply || op == FormulaOp::logical_and ? 1 : 0;
  std::vector<NodeId> operands;
  for (const NodeId arg : merged) {
    if (!is_constant(arg)) {
      operands.push_back(arg);
      continue;
    }
    const Word word = nodes_[arg].table[0];
    total = op == FormulaOp::add           ? total + word
            : op == FormulaOp::multiply    ? total * word
            : op == FormulaOp::logical_and ? (total != 0 && word != 0 ? 1 : 0)
                                           : (total != 0 || word != 0 ? 1 : 0);
  }
  const bool decided = (op == FormulaOp::multiply && total == 0) ||
                       (op == FormulaOp::logical_and && total == 0) ||
                       (op == FormulaOp::logical_or && total != 0);
  if (decided || operands.empty()) return constant(total, false);
  if ((op == FormulaOp::add && total != 0) || (op == FormulaOp::multiply && total != 1)) {
    // a constant joins a table for free
    const NodeId number = constant(total, false);
    const auto table = std::find_if(operands.begin(), operands.end(),
                                    [&](NodeId arg) { return nodes_[arg].op == FormulaOp::leaf; });
    if (table != operands.end())
      *table = fold(op, {*table, number}, nodes_[*table].scope);
    else
      operands.push_back(number);
  }
  if (operands.size() == 1) return operands[0];
  std::sort(operands.begin(), operands.end());
  FormulaNode node;
  node.op = op;
  node.scope = scope_of(operands);
  node.args = std::move(operands);
  if (!bounds(node)) return none;
  if (node.low == node.high && std::abs(node.low) < formula_exact_limit) {
    return constant(static_cast<Word>(node.low), false);
  }
  return intern(std::move(node));
}

/// Interval of the result from those of the operands; false where the operation may fail or overflow.
KERNELSEARCH_INLINE bool Formulas::bounds(FormulaNode& node) const {
  const FormulaNode& a = nodes_[node.args[0]];
  const FormulaNode& b = nodes_[node.args.back()];
  const auto corners = [&](auto f) {
    const double values[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
    node.low = *std::min_element(values, values + 4);
    node.high = *std::max_element(values, values + 4);
  };
  const bool divides =
      node.op == FormulaOp::divide || node.op == FormulaOp::floor_divide || node.op == FormulaOp::modulo;
  const double largest = std::max({std::abs(a.low), std::abs(a.high), std::abs(b.low), std::abs(b.high)});
  const bool exact = largest <= formula_exact_limit;  // else the bounds themselves are rounded
  if (divides && b.low <= 0 && b.high >= 0) return false;
  switch (node.op) {
    case FormulaOp::add:
      node.low = node.high = 0;
      for (const NodeId arg : node.args) {
        node.low += nodes_[arg].low;
        node.high += nodes_[arg].high;
      }
      break;
    case FormulaOp::multiply:
      node.low = node.high = 1;
      for (const NodeId arg : node.args) {
        const double values[] = {node.low * nodes_[arg].low, node.low * nodes_[arg].high,
                                 node.high * nodes_[arg].low, node.high * nodes_[arg].high};
        node.low = *std::min_element(values, values + 4);
        node.high = *std::max_element(values, values + 4);
      }
      break;
    case FormulaOp::divide:
      corners([](double x, double y) { return x / y; });
      break;
    case FormulaOp::floor_divide:
      corners([](double x, double y) { return std::floor(x / y); });
      break;
    case FormulaOp::modulo:
      node.low = b.low < 0 ? b.low : 0;
      node.high = b.high > 0 ? b.high : 0;
      if (!node.real && b.low > 0) node.high = b.high - 1;
      if (!node.real && b.high < 0) node.low = b.low + 1;
      if (a.low >= 0 && b.low > 0) node.high = std::min(node.high, a.high);
      break;
    case FormulaOp::minimum:
      node.low = std::min(a.low, b.low), node.high = std::min(a.high, b.high);
      break;
    case FormulaOp::maximum:
      node.low = std::max(a.low, b.low), node.high = std::max(a.high, b.high);
      break;
    case FormulaOp::less:
      node.low = exact && a.high < b.low ? 1 : 0;
      node.high = exact && a.low >= b.high ? 0 : 1;
      break;
    case FormulaOp::less_equal:
      node.low = exact && a.high <= b.low ? 1 : 0;
      node.high = exact && a.low > b.high ? 0 : 1;
      break;
    case FormulaOp::equal:
    case FormulaOp::not_equal: {
      const bool never = exact && (a.high < b.low || b.high < a.low);
      const bool always = exact && a.low == a.high && b.low == b.high && a.low == b.low;
      const bool is_equal = node.op == FormulaOp::equal;
      node.low = (is_equal ? always : never) ? 1 : 0;
      node.high = (is_equal ? never : always) ? 0 : 1;
      break;
    }
    case FormulaOp::negate:
      node.low = -a.high, node.high = -a.low;
      break;
    case FormulaOp::absolute:
      node.low = a.low <= 0 && a.high >= 0 ? 0 : std::min(std::abs(a.low), std::abs(a.high));
      node.high = std::max(std::abs(a.low), std::abs(a.high));
      break;
    case FormulaOp::to_real:
      node.low = a.low, node.high = a.high;
      break;
    case FormulaOp::select:
      node.low = std::min(nodes_[node.args[1]].low, b.low);
      node.high = std::max(nodes_[node.args[1]].high, b.high);
      break;
    default:
      node.low = 0, node.high = 1;
      break;
  }
  if (node.real) {
    // bounds of rounded arithmetic: widen by far more than an ulp, so that they decide no comparison
    // wrongly
    const double slack = 1e-9 * std::max(std::abs(node.low), std::abs(node.high));
    if (node.op != FormulaOp::to_real && node.op != FormulaOp::select) node.low -= slack, node.high += slack;
    return std::isfinite(node.low) && std::isfinite(node.high);
  }
  return std::abs(node.low) < formula_integer_limit && std::abs(node.high) < formula_integer_limit;
}

}  // namespace kernelsearch::detail
