// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/space/impl/relation_impl.hpp"
#include "kernelsearch/space/impl/space_data.hpp"

namespace kernelsearch::detail {

/// The formulas of one group arranged for a fixed order of its tunables (level 0 first): every operation has
/// at most the operands that its level allows, so that what the earlier levels determine is one value.
struct LevelNode {
  FormulaOp op = FormulaOp::leaf;
  bool real_operands = false;
  std::uint32_t level = 0;     // of the last tunable it depends on
  std::uint32_t last_use = 0;  // the last level that reads it; `level` where nothing later does
  std::vector<std::uint32_t> args;
  const Word* table = nullptr;  // constant, leaf (by position) or table (rows of `width`)
  std::size_t width = 0;
};

/// A test of positions that has no formula, at the level of its last tunable.
struct LevelTest {
  const Relation* relation;
  std::vector<std::uint32_t> leaves;  // position leaves of its tunables
};

class LevelNodes {
 public:
  LevelNodes(const Formulas& formulas, const std::vector<const Relation*>& relations,
             const std::vector<std::uint32_t>& order)
      : formulas_(formulas) {
    for (std::uint32_t level = 0; level < order.size(); ++level) level_of_.emplace(order[level], level);
    checks.resize(order.size());
    tests.resize(order.size());
    for (const Relation* relation : relations) {
      if (!relation->truth.empty())
        add_automaton(*relation);
      else if (relation->root != Formulas::none)
        add_check(arrange(relation->root));
      else
        add_test(*relation);
    }
  }

  std::vector<LevelNode> nodes;
  std::vector<std::vector<std::uint32_t>> checks;  // level -> nodes that must not be 0
  std::vector<std::vector<LevelTest>> tests;

 private:
  std::uint32_t add(LevelNode node) {
    for (const std::uint32_t arg : node.args) node.level = std::max(node.level, nodes[arg].level);
    node.last_use = node.level;
    for (const std::uint32_t arg : node.args) nodes[arg].last_use = std::max(nodes[arg].last_use, node.level);
    nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }

  void add_check(std::uint32_t node) {
    std::vector<std::uint32_t>& list = checks[nodes[node].level];
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
  }

  std::uint32_t operation(FormulaOp op, bool real_operands, std::vector<std::uint32_t> args) {
    const auto key = std::tuple(static_cast<int>(op), real_operands, args);
    const auto found = operations_.find(key);
    if (found != operations_.end()) return found->second;
    LevelNode node;
    node.op = op;
    node.real_operands = real_operands;
    node.args = std::move(args);
    return operations_[key] = add(std::move(node));
  }

  std::uint32_t arrange(NodeId id) {
    const auto known = arranged_.find(id);
    if (known != arranged_.end()) return known->second;
    const FormulaNode& node = formulas_.node(id);
    std::uint32_t result = 0;
    if (node.op == FormulaOp::constant || node.op == FormulaOp::leaf) {
      LevelNode out;
      out.op = node.op;
      out.table = node.table.data();
      if (node.op == FormulaOp::leaf) out.level = level_of_.at(node.scope[0]);
      result = add(std::move(out));
    } else {
      std::vector<std::uint32_t> args;
      for (const NodeId arg : node.args) args.push_back(arrange(arg));
      const bool real_operands = formulas_.node(node.args.back()).real;
      if (args.size() > 2 && node.op != FormulaOp::select) {
        std::stable_sort(args.begin(), args.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return nodes[a].level < nodes[b].level; });
        result = args[0];
        for (std::size_t i = 1; i < args.size(); ++i)
          result = operation(node.op, real_operands, {result, args[i]});
      } else {
        result = operation(node.op, real_operands, std::move(args));
      }
    }
    arranged_.emplace(id, result);
    return result;
  }

  std::uint32_t own_leaf(std::uint32_t level, std::vector<Word> table) {
    owned_.push_back(std::move(table));
    LevelNode node;
    node.level = level;
    node.table = owned_.back().data();
    return add(std::move(node));
  }

  void add_test(const Relation& relation) {
    LevelTest test{&relation, {}};
    std::uint32_t last = 0;
    for (const std::uint32_t tunable : relation.scope) {
      const std::uint32_t level = level_of_.at(tunable);
      last = std::max(last, level);
      std::vector<Word> positions(formulas_.domain_size(tunable));
      for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<Word>(i);
      test.leaves.push_back(own_leaf(level, std::move(positions)));
    }
    for (const std::uint32_t leaf : test.leaves) nodes[leaf].last_use = last;
    tests[last].push_back(std::move(test));
  }

  /// A tabulated relation as an automaton that reads its tunables in order: its states are the distinct ways
  /// of going on, 0 being the one that fails whatever follows.
  void add_automaton(const Relation& relation) {
    std::vector<std::uint32_t> scope = relation.scope;
    std::sort(scope.begin(), scope.end(),
              [&](std::uint32_t a, std::uint32_t b) { return level_of_.at(a) < level_of_.at(b); });
    const std::size_t k = scope.size();
    std::vector<std::size_t> sizes, strides;
    for (const std::uint32_t tunable : scope) {
      sizes.push_back(formulas_.domain_size(tunable));
      std::size_t stride = 1;
      for (std::size_t i = relation.scope.size(); i-- > 0 && relation.scope[i] != tunable;)
        stride *= formulas_.domain_size(relation.scope[i]);
      strides.push_back(stride);
    }
    std::vector<Word> cells(relation.truth.size());
    std::vector<std::size_t> at(k, 0);
    std::size_t source = 0;
    for (Word& cell : cells) {  // the truth table with the levels' order of dimensions
      cell = relation.truth[source];
      for (std::size_t i = k; i-- > 0;) {
        source += strides[i];
        if (++at[i] < sizes[i]) break;
        source -= strides[i] * sizes[i];
        at[i] = 0;
      }
    }
    std::vector<std::vector<Word>> tables(k);  // tables[i]: rows by state before reading scope[i]
    for (std::size_t i = k; i-- > 1;) {
      const std::size_t rows = cells.size() / sizes[i];
      std::map<std::vector<Word>, Word> states{{std::vector<Word>(sizes[i], 0), 0}};
      tables[i].assign(sizes[i], 0);
      std::vector<Word> next(rows);
      for (std::size_t row = 0; row < rows; ++row) {
        const auto first = cells.begin() + static_cast<std::ptrdiff_t>(row * sizes[i]);
        const std::vector<Word> content(first, first + static_cast<std::ptrdiff_t>(sizes[i]));
        const auto [slot, fresh] = states.emplace(content, static_cast<Word>(states.size()));
        if (fresh) tables[i].insert(tables[i].end(), content.begin(), content.end());
        next[row] = slot->second;
      }
      cells = std::move(next);
    }
    const bool some_fail = std::find(cells.begin(), cells.end(), 0) != cells.end();
    std::uint32_t node = own_leaf(level_of_.at(scope[0]), std::move(cells));
    if (some_fail) add_check(node);
    for (std::size_t i = 1; i < k; ++i) {
      owned_.push_back(std::move(tables[i]));
      LevelNode step;
      step.op = FormulaOp::table;
      step.level = level_of_.at(scope[i]);
      step.args = {node};
      step.table = owned_.back().data();
      step.width = sizes[i];
      node = add(std::move(step));
      add_check(node);
    }
  }

  const Formulas& formulas_;
  std::unordered_map<std::uint32_t, std::uint32_t> level_of_;
  std::unordered_map<NodeId, std::uint32_t> arranged_;
  std::map<std::tuple<int, bool, std::vector<std::uint32_t>>, std::uint32_t> operations_;
  std::vector<std::vector<Word>> owned_;
};

}  // namespace kernelsearch::detail
