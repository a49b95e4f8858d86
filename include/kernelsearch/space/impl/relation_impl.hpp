// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernelsearch/space/impl/formula_impl.hpp"

namespace kernelsearch::detail {

/// Evaluates formula nodes for all values of one tunable at once, the other tunables being fixed.
class RowProgram {
 public:
  /// `given` are nodes whose values the caller supplies.
  RowProgram(const Formulas& formulas, NodeId root, std::uint32_t row_tunable,
             std::span<const NodeId> given = {})
      : formulas_(formulas),
        tunable_(row_tunable),
        register_of_(formulas.size(), none),
        given_(given.size(), 0) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      register_of_[given[i]] = static_cast<std::uint32_t>(registers_.size());
      registers_.push_back({&given_[i], false});
    }
    root_ = place(root);
  }

  /// Sets the value of a given node.
  void give(std::size_t i, Word value) { given_[i] = value; }

  /// Sets the position of a tunable other than the row's.
  void fix(std::uint32_t tunable, std::size_t at) {
    for (const Fixed& fixed : fixed_) {
      if (fixed.tunable == tunable) registers_[fixed.target].data = fixed.table + at;
    }
  }

  void run() {
    for (const Step& step : steps_) {
      operands_.clear();
      for (const std::uint32_t arg : step.args) operands_.push_back(registers_[arg]);
      apply_any(step.op, step.real, step.rows, buffers_[step.buffer].data(), operands_);
    }
  }

  [[nodiscard]] WordColumn result() const { return registers_[root_]; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Step {
    FormulaOp op;
    bool real;  // operands
    std::size_t rows;
    std::vector<std::uint32_t> args;
    std::size_t buffer;
  };
  struct Fixed {
    std::uint32_t tunable;
    const Word* table;
    std::uint32_t target;
  };

  std::uint32_t place(NodeId id) {
    if (register_of_[id] != none) return register_of_[id];
    const FormulaNode& node = formulas_.node(id);
    WordColumn column;
    if (node.op == FormulaOp::constant || node.op == FormulaOp::leaf) {
      column.data = node.table.data();
      column.wide = node.op == FormulaOp::leaf && node.scope[0] == tunable_;
      if (node.op == FormulaOp::leaf && !column.wide) {
        fixed_.push_back({node.scope[0], node.table.data(), static_cast<std::uint32_t>(registers_.size())});
      }
    } else {
      Step step{node.op, formulas_.node(node.args.back()).real, 1, {}, buffers_.size()};
      for (const NodeId arg : node.args) step.args.push_back(place(arg));
      column.wide = std::binary_search(node.scope.begin(), node.scope.end(), tunable_);
      if (column.wide) step.rows = formulas_.domain_size(tunable_);
      step.buffer = buffers_.size();
      buffers_.emplace_back(step.rows);
      column.data = buffers_.back().data();
      steps_.push_back(std::move(step));
    }
    registers_.push_back(column);
    return register_of_[id] = static_cast<std::uint32_t>(registers_.size() - 1);
  }

  const Formulas& formulas_;
  std::uint32_t tunable_;
  std::vector<std::uint32_t> register_of_;
  std::vector<WordColumn> registers_;
  std::uint32_t root_ = 0;
  std::vector<Step> steps_;
  std::vector<Fixed> fixed_;
  std::vector<std::vector<Word>> buffers_;
  std::vector<WordColumn> operands_;
  std::vector<Word> given_;
};

/// A condition over two or more tunables: a formula that must not be 0, or a test of positions.
struct Relation {
  using Test = std::function<bool(const std::vector<std::uint32_t>& positions)>;  // by tunable

  NodeId root = Formulas::none;
  Test test;                         // where there is no formula
  std::vector<std::uint32_t> scope;  // ascending
  std::vector<std::uint8_t>
      truth;           // of every combination, the last tunable of the scope fastest; may be empty
  double density = 1;  // share of combinations that meet it
};

inline double combinations(const Relation& relation, const Formulas& formulas) {
  double product = 1;
  for (const std::uint32_t v : relation.scope) product *= static_cast<double>(formulas.domain_size(v));
  return product;
}

/// Fills `truth` and `density`.
inline void tabulate(Relation& relation, const Formulas& formulas, std::size_t tunable_count) {
  const std::vector<std::uint32_t>& scope = relation.scope;
  const std::uint32_t row = scope.back();
  const std::size_t width = formulas.domain_size(row);
  relation.truth.assign(static_cast<std::size_t>(combinations(relation, formulas)), 0);
  std::vector<std::uint32_t> at(tunable_count, 0);
  std::optional<RowProgram> program;
  if (relation.root != Formulas::none) program.emplace(formulas, relation.root, row);
  std::size_t met = 0;
  for (std::size_t first = 0; first < relation.truth.size(); first += width) {
    std::size_t rest = first / width;
    for (std::size_t i = scope.size() - 1; i-- > 0;) {
      const std::size_t size = formulas.domain_size(scope[i]);
      at[scope[i]] = static_cast<std::uint32_t>(rest % size);
      rest /= size;
      if (program) program->fix(scope[i], at[scope[i]]);
    }
    if (program) program->run();
    for (std::size_t i = 0; i < width; ++i) {
      bool holds = false;
      if (program) {
        const WordColumn column = program->result();
        holds = column.data[column.wide ? i : 0] != 0;
      } else {
        at[row] = static_cast<std::uint32_t>(i);
        holds = relation.test(at);
      }
      relation.truth[first + i] = holds ? 1 : 0;
      met += holds ? 1 : 0;
    }
  }
  relation.density = static_cast<double>(met) / static_cast<double>(relation.truth.size());
}

/// Marks the values of each tunable of a tabulated relation that some combination meets.
inline void supported(const Relation& relation, const Formulas& formulas,
                      std::vector<std::vector<std::uint8_t>>& marks) {
  marks.clear();
  for (const std::uint32_t v : relation.scope) marks.emplace_back(formulas.domain_size(v), 0);
  std::vector<std::uint8_t>& row_marks = marks.back();
  for (std::size_t first = 0; first < relation.truth.size(); first += row_marks.size()) {
    bool any = false;
    for (std::size_t i = 0; i < row_marks.size(); ++i) {
      row_marks[i] |= relation.truth[first + i];
      any = any || relation.truth[first + i] != 0;
    }
    if (!any) continue;
    std::size_t rest = first / row_marks.size();
    for (std::size_t i = relation.scope.size() - 1; i-- > 0;) {
      marks[i][rest % marks[i].size()] = 1;
      rest /= marks[i].size();
    }
  }
}

/// The distinct values of a node over the combinations of its tunables that `pairs`, the tabulated relations,
/// allow; empty where there are more than `most` combinations.
inline std::vector<Word> value_set(const Formulas& formulas, NodeId id,
                                   const std::vector<const Relation*>& pairs, double most) {
  const FormulaNode& node = formulas.node(id);
  if (node.op == FormulaOp::constant || node.op == FormulaOp::leaf) {
    std::vector<Word> values = node.table;
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }
  Relation shape;
  shape.scope = node.scope;
  if (combinations(shape, formulas) > most) return {};
  const std::uint32_t row = node.scope.back();
  const std::size_t width = formulas.domain_size(row);
  RowProgram program(formulas, id, row);
  std::vector<const Relation*> filters;
  for (const Relation* pair : pairs) {
    if (pair->scope == node.scope) filters.push_back(pair);
  }
  std::vector<Word> values;
  const auto all = static_cast<std::size_t>(combinations(shape, formulas));
  for (std::size_t first = 0; first < all; first += width) {
    std::size_t rest = first / width;
    for (std::size_t i = node.scope.size() - 1; i-- > 0;) {
      const std::size_t size = formulas.domain_size(node.scope[i]);
      program.fix(node.scope[i], rest % size);
      rest /= size;
    }
    program.run();
    const WordColumn column = program.result();
    for (std::size_t i = 0; i < width; ++i) {
      const bool allowed = std::all_of(filters.begin(), filters.end(),
                                       [&](const Relation* filter) { return filter->truth[first + i] != 0; });
      if (allowed) values.push_back(column.data[column.wide ? i : 0]);
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The largest parts of a formula that do not depend on `tunable`, constants apart.
inline void parts_without(const Formulas& formulas, NodeId id, std::uint32_t tunable,
                          std::vector<NodeId>& parts) {
  const FormulaNode& node = formulas.node(id);
  if (node.op == FormulaOp::constant) return;
  if (!std::binary_search(node.scope.begin(), node.scope.end(), tunable)) {
    if (std::find(parts.begin(), parts.end(), id) == parts.end()) parts.push_back(id);
    return;
  }
  for (const NodeId arg : node.args) parts_without(formulas, arg, tunable, parts);
}

/// Marks the values of `tunable` that meet the relation for some values of the parts that do not depend on
/// it, taken as if those were independent: what stays unmarked is never valid. Returns the work done, or 0
/// where it would exceed `most`.
inline double possible(const Relation& relation, const Formulas& formulas, std::uint32_t tunable,
                       const std::vector<const Relation*>& pairs, double most,
                       std::vector<std::uint8_t>& marks) {
  constexpr double most_combinations = 4096;
  std::vector<NodeId> parts;
  parts_without(formulas, relation.root, tunable, parts);
  std::vector<std::vector<Word>> values;
  double work = static_cast<double>(formulas.domain_size(tunable));
  for (const NodeId part : parts) {
    values.push_back(value_set(formulas, part, pairs, most_combinations));
    work *= static_cast<double>(values.back().size());
    if (work == 0 || work > most) return 0;
  }
  RowProgram program(formulas, relation.root, tunable, parts);
  marks.assign(formulas.domain_size(tunable), 0);
  std::vector<std::size_t> at(parts.size(), 0);
  for (std::size_t i = 0; i < parts.size(); ++i) program.give(i, values[i][0]);
  for (;;) {
    program.run();
    const WordColumn column = program.result();
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (column.data[column.wide ? i : 0] != 0) marks[i] = 1;
    std::size_t digit = 0;
    while (digit < parts.size() && ++at[digit] == values[digit].size()) {
      at[digit] = 0;
      program.give(digit, values[digit][0]);
      ++digit;
    }
    if (digit == parts.size()) return work;
    program.give(digit, values[digit][at[digit]]);
  }
}

}  // namespace kernelsearch::detail
