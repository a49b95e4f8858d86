// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernelsearch/core/impl/expression_machine_impl.hpp"
#include "kernelsearch/space/impl/formula_impl.hpp"
#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch::detail {

/// Part of an expression as a program of its own, for what formulas cannot hold.
class ExpressionPart {
 public:
  ExpressionPart(const Expression& expression, std::uint32_t root)
      : data_(std::make_shared<ExpressionData>(expression.data())) {
    std::string error;
    fine_ = ExprCompiler(*data_, error).compile_part(root);
  }

  /// Truth for the values that `load(slot)` refers to; empty on an error.
  template <class Load>
  std::optional<bool> test(const Load& load) const {
    ExprMachine machine(*data_);
    ExprCell cell;
    if (!fine_ || !machine.run([&](std::uint32_t slot) { return machine.cell(load(slot)); }, cell))
      return std::nullopt;
    return machine.truth(cell);
  }

  /// The number; empty on an error or another type. `real` tells which kind.
  template <class Load>
  std::optional<Word> number(const Load& load, bool& real) const {
    ExprMachine machine(*data_);
    ExprCell cell;
    if (!fine_ || !machine.run([&](std::uint32_t slot) { return machine.cell(load(slot)); }, cell) ||
        !cell.number())
      return std::nullopt;
    real = cell.kind == ExprCell::Kind::real;
    return real ? word_of(cell.real) : cell.integer;
  }

 private:
  std::shared_ptr<ExpressionData> data_;
  bool fine_ = false;
};

/// Turns expressions over tunables into formulas over their domains.
class FormulaReader {
 public:
  using Domain = std::vector<std::uint32_t>;  // positions of the values left

  FormulaReader(Formulas& formulas, const std::vector<Tunable>& tunables, const std::vector<Domain>& domains)
      : formulas_(formulas), tunables_(tunables), domains_(domains) {}

  /// One part of a top-level conjunction: a formula that must not be 0, or what has none.
  struct Conjunct {
    NodeId root = Formulas::none;
    std::uint32_t part = 0;  // where there is no formula: the expression's node
  };

  /// A whole expression as one condition; `none` where it has no formula.
  NodeId condition(const Expression& expression, const std::vector<std::uint32_t>& reads) {
    start(expression, reads);
    return truth(expression.data().root, false);
  }

  /// Reads a constraint whose slot i is tunable `reads[i]`.
  std::vector<Conjunct> read(const Expression& expression, const std::vector<std::uint32_t>& reads) {
    start(expression, reads);
    std::vector<Conjunct> out;
    split(expression.data().root, out);
    return out;
  }

 private:
  static constexpr std::int64_t unknown = -3, several = -2, nobody = -1;

  void start(const Expression& expression, const std::vector<std::uint32_t>& reads) {
    expression_ = &expression;
    reads_ = &reads;
    owners_.assign(nodes().size(), unknown);
  }

  const std::vector<ExprNode>& nodes() const { return expression_->data().nodes; }

  void split(std::uint32_t index, std::vector<Conjunct>& out) {
    if (nodes()[index].op == ExprOp::logical_and) {
      for (const std::uint32_t arg : nodes()[index].args) split(arg, out);
      return;
    }
    NodeId root = truth(index, false);
    if (root == Formulas::none && owner(index) != several) root = table_of_truth(index);
    if (root == Formulas::none) {
      out.push_back({root, index});
    } else {
      split_formula(root, out);
    }
  }

  void split_formula(NodeId root, std::vector<Conjunct>& out) {
    const FormulaNode node = formulas_.node(root);
    if (node.op == FormulaOp::logical_and) {
      for (const NodeId arg : node.args) split_formula(arg, out);
      return;
    }
    if (node.op == FormulaOp::logical_or) {
      // `a or (b and c)` is `a or b` and `a or c`: smaller scopes, as long as only one operand is
      // a conjunction
      std::vector<NodeId> rest;
      NodeId conjunction = Formulas::none;
      std::size_t conjunctions = 0;
      for (const NodeId arg : node.args) {
        if (formulas_.node(arg).op == FormulaOp::logical_and) {
          conjunction = arg;
          ++conjunctions;
        } else {
          rest.push_back(arg);
        }
      }
      if (conjunctions == 1) {
        const std::vector<NodeId> parts = formulas_.node(conjunction).args;
        for (const NodeId part : parts) {
          std::vector<NodeId> args = rest;
          args.push_back(part);
          split_formula(formulas_.make(FormulaOp::logical_or, std::move(args)), out);
        }
        return;
      }
    }
    out.push_back({root, 0});
  }

  /// The only tunable with several values below a node, `nobody` or `several`.
  std::int64_t owner(std::uint32_t index) {
    if (owners_[index] != unknown) return owners_[index];
    std::int64_t result = nobody;
    const ExprNode& node = nodes()[index];
    if (node.op == ExprOp::name) {
      const std::uint32_t tunable = (*reads_)[node.slot];
      if (domains_[tunable].size() > 1) result = tunable;
    }
    for (const std::uint32_t arg : node.args) {
      const std::int64_t own = owner(arg);
      if (own == nobody || own == result) continue;
      result = result == nobody ? own : several;
    }
    return owners_[index] = result;
  }

  /// Calls f(load) for every value of the node's only tunable.
  template <class F>
  bool for_each_value(std::uint32_t index, F&& f) {
    const std::int64_t tunable = owner(index);
    const std::size_t count = tunable == nobody ? 1 : domains_[static_cast<std::size_t>(tunable)].size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto load = [&](std::uint32_t slot) -> const Value& {
        const std::uint32_t read = (*reads_)[slot];
        return tunables_[read].values[domains_[read][read == tunable ? i : 0]];
      };
      if (!f(load)) return false;
    }
    return true;
  }

  NodeId leaf_of(std::int64_t tunable, std::vector<Word> table, bool real) {
    return tunable == nobody ? formulas_.constant(table[0], real)
                             : formulas_.leaf(static_cast<std::uint32_t>(tunable), std::move(table), real);
  }

  /// A whole condition over one tunable, by evaluating it; a failure makes the value invalid.
  NodeId table_of_truth(std::uint32_t index) {
    const ExpressionPart part(*expression_, index);
    std::vector<Word> table;
    for_each_value(index, [&](const auto& load) {
      table.push_back(part.test(load).value_or(false) ? 1 : 0);
      return true;
    });
    return leaf_of(owner(index), std::move(table), false);
  }

  /// Numbers of one tunable, by evaluating them; none where one fails or is not a number.
  NodeId table_of_numbers(std::uint32_t index, bool as_truth) {
    if (nodes()[index].op == ExprOp::local) return Formulas::none;
    const ExpressionPart part(*expression_, index);
    std::vector<Word> table;
    std::vector<bool> reals;
    const bool fine = for_each_value(index, [&](const auto& load) {
      bool real = false;
      std::optional<Word> word;
      if (as_truth) {
        const std::optional<bool> truth = part.test(load);
        if (truth) word = *truth ? 1 : 0;
      } else {
        word = part.number(load, real);
      }
      if (!word) return false;
      table.push_back(*word);
      reals.push_back(real);
      return true;
    });
    return fine ? unified(owner(index), std::move(table), reals) : Formulas::none;
  }

  NodeId unified(std::int64_t tunable, std::vector<Word> table, const std::vector<bool>& reals) {
    const bool any_real = std::find(reals.begin(), reals.end(), true) != reals.end();
    for (std::size_t i = 0; any_real && i < table.size(); ++i) {
      if (reals[i]) continue;
      if (std::abs(static_cast<double>(table[i])) > formula_exact_limit) return Formulas::none;
      table[i] = word_of(static_cast<double>(table[i]));
    }
    return leaf_of(tunable, std::move(table), any_real);
  }

  NodeId name(const ExprNode& node) {
    const std::uint32_t tunable = (*reads_)[node.slot];
    std::vector<Word> table;
    std::vector<bool> reals;
    for (const std::uint32_t at : domains_[tunable]) {
      const Value& value = tunables_[tunable].values[at];
      if (const auto* i = std::get_if<std::int64_t>(&value))
        table.push_back(*i);
      else if (const auto* b = std::get_if<bool>(&value))
        table.push_back(*b ? 1 : 0);
      else if (const auto* d = std::get_if<double>(&value))
        table.push_back(word_of(*d));
      else
        return Formulas::none;
      reals.push_back(std::holds_alternative<double>(value));
    }
    return unified(table.size() == 1 ? nobody : std::int64_t{tunable}, std::move(table), reals);
  }

  /// The node as a condition, with `not` pushed down to the comparisons.
  NodeId truth(std::uint32_t index, bool negated) {
    const ExprNode& node = nodes()[index];
    switch (node.op) {
      case ExprOp::logical_and:
      case ExprOp::logical_or: {
        std::vector<NodeId> args;
        for (const std::uint32_t arg : node.args) args.push_back(truth(arg, negated));
        return formulas_.make(
            (node.op == ExprOp::logical_and) != negated ? FormulaOp::logical_and : FormulaOp::logical_or,
            std::move(args));
      }
      case ExprOp::logical_not:
        return truth(node.args[0], !negated);
      case ExprOp::less:
        return compare(index, FormulaOp::less, FormulaOp::less_equal, negated, false);
      case ExprOp::less_equal:
        return compare(index, FormulaOp::less_equal, FormulaOp::less, negated, false);
      case ExprOp::greater:
        return compare(index, FormulaOp::less, FormulaOp::less_equal, negated, true);
      case ExprOp::greater_equal:
        return compare(index, FormulaOp::less_equal, FormulaOp::less, negated, true);
      case ExprOp::equal:
        return compare(index, FormulaOp::equal, FormulaOp::not_equal, negated, false);
      case ExprOp::not_equal:
        return compare(index, FormulaOp::not_equal, FormulaOp::equal, negated, false);
      case ExprOp::in:
        return member(index, negated);
      case ExprOp::not_in:
        return member(index, !negated);
      case ExprOp::conditional: {
        const NodeId condition = truth(node.args[0], false), otherwise = truth(node.args[0], true);
        const NodeId first =
            formulas_.make(FormulaOp::logical_and, {condition, truth(node.args[1], negated)});
        const NodeId second =
            formulas_.make(FormulaOp::logical_and, {otherwise, truth(node.args[2], negated)});
        return formulas_.make(FormulaOp::logical_or, {first, second});
      }
      default:
        break;
    }
    NodeId value = convert(index);
    if (value == Formulas::none && owner(index) != several) value = table_of_numbers(index, true);
    if (value == Formulas::none) return value;
    value = formulas_.truth(value);
    return negated ? formulas_.make(FormulaOp::logical_not, {value}) : value;
  }

  /// `op`, or when negated its opposite with the operands swapped where that is how the opposite is spelt.
  NodeId compare(std::uint32_t index, FormulaOp op, FormulaOp opposite, bool negated, bool swapped) {
    const ExprNode& node = nodes()[index];
    NodeId a = value(node.args[0]), b = value(node.args[1]);
    if (a == Formulas::none || b == Formulas::none) {
      if (owner(index) == several) return Formulas::none;
      const NodeId table = table_of_numbers(index, true);
      return negated && table != Formulas::none ? formulas_.make(FormulaOp::logical_not, {table}) : table;
    }
    const bool ordered = op == FormulaOp::less || op == FormulaOp::less_equal;
    if (swapped != (negated && ordered)) std::swap(a, b);
    return formulas_.make(negated ? opposite : op, {a, b});
  }

  NodeId member(std::uint32_t index, bool negated) {
    const ExprNode& node = nodes()[index];
    const ExprNode& list = nodes()[node.args[1]];
    NodeId found = Formulas::none;
    if (owner(index) != several) {
      found = table_of_numbers(index, true);
      if (node.op == ExprOp::not_in) negated = !negated;  // the table has the node's own `not`
    } else if (list.op == ExprOp::list) {
      const NodeId item = value(node.args[0]);
      std::vector<NodeId> options{formulas_.constant(0, false)};
      for (const std::uint32_t arg : list.args) options.push_back(equal_values(item, value(arg)));
      found = formulas_.make(FormulaOp::logical_or, std::move(options));
    }
    return negated && found != Formulas::none ? formulas_.make(FormulaOp::logical_not, {found}) : found;
  }
  NodeId equal_values(NodeId a, NodeId b) { return formulas_.make(FormulaOp::equal, {a, b}); }

  /// The node as a number, evaluated where it has no formula but only one tunable.
  NodeId value(std::uint32_t index) {
    const NodeId converted = convert(index);
    if (converted != Formulas::none || owner(index) == several) return converted;
    return table_of_numbers(index, false);
  }

  NodeId binary(FormulaOp op, const ExprNode& node) {
    const NodeId a = value(node.args[0]);
    return formulas_.make(op, {a, value(node.args[1])});
  }

  NodeId convert(std::uint32_t index) {
    const ExprNode& node = nodes()[index];
    switch (node.op) {
      case ExprOp::literal:
        if (const auto* i = std::get_if<std::int64_t>(&node.literal)) return formulas_.constant(*i, false);
        if (const auto* b = std::get_if<bool>(&node.literal)) return formulas_.constant(*b ? 1 : 0, false);
        if (const auto* d = std::get_if<double>(&node.literal)) return formulas_.constant(word_of(*d), true);
        return Formulas::none;
      case ExprOp::name:
        return name(node);
      case ExprOp::add:
        return binary(FormulaOp::add, node);
      case ExprOp::subtract: {
        const NodeId a = value(node.args[0]), b = value(node.args[1]);
        return a == Formulas::none || b == Formulas::none ? Formulas::none : formulas_.subtract(a, b);
      }
      case ExprOp::multiply:
        return binary(FormulaOp::multiply, node);
      case ExprOp::divide:
        return binary(FormulaOp::divide, node);
      case ExprOp::floor_divide:
        return binary(FormulaOp::floor_divide, node);
      case ExprOp::modulo:
        return binary(FormulaOp::modulo, node);
      case ExprOp::negate:
        return formulas_.make(FormulaOp::negate, {value(node.args[0])});
      case ExprOp::plus:
        return value(node.args[0]);
      case ExprOp::logical_not:
      case ExprOp::less:
      case ExprOp::less_equal:
      case ExprOp::greater:
      case ExprOp::greater_equal:
      case ExprOp::equal:
      case ExprOp::not_equal:
      case ExprOp::in:
      case ExprOp::not_in:
        return truth(index, false);
      case ExprOp::logical_and:
      case ExprOp::logical_or: {  // Python gives the deciding operand
        NodeId result = value(node.args.back());
        for (std::size_t i = node.args.size() - 1; i-- > 0;) {
          const NodeId arg = value(node.args[i]);
          result = node.op == ExprOp::logical_or ? choose(arg, arg, result) : choose(arg, result, arg);
        }
        return result;
      }
      case ExprOp::conditional:
        return choose(truth(node.args[0], false), value(node.args[1]), value(node.args[2]));
      case ExprOp::call:
        return call(node);
      default:
        return Formulas::none;
    }
  }

  NodeId choose(NodeId condition, NodeId a, NodeId b) {
    return formulas_.make(FormulaOp::select, {condition, a, b});
  }

  NodeId call(const ExprNode& node) {
    if (node.function == ExprFunction::abs) return formulas_.make(FormulaOp::absolute, {value(node.args[0])});
    if ((node.function != ExprFunction::min && node.function != ExprFunction::max) || node.args.size() < 2)
      return Formulas::none;
    NodeId result = value(node.args[0]);
    for (std::size_t i = 1; i < node.args.size(); ++i) {
      result = formulas_.make(node.function == ExprFunction::min ? FormulaOp::minimum : FormulaOp::maximum,
                              {result, value(node.args[i])});
    }
    return result;
  }

  Formulas& formulas_;
  const std::vector<Tunable>& tunables_;
  const std::vector<Domain>& domains_;
  const Expression* expression_ = nullptr;
  const std::vector<std::uint32_t>* reads_ = nullptr;
  std::vector<std::int64_t> owners_;
};

}  // namespace kernelsearch::detail
