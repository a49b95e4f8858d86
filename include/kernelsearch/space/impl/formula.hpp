// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernelsearch/core/value.hpp"
#include "kernelsearch/space/impl/formula_ops.hpp"

namespace kernelsearch::detail {

using NodeId = std::uint32_t;

/// One node: arithmetic over integers (or, where `real`, doubles) that cannot fail for any values in the
/// domains. add, multiply, logical_and and logical_or of integers take any number of operands, because their
/// order is free until the order of the tunables is known.
struct FormulaNode {
  FormulaOp op = FormulaOp::constant;
  bool real = false;
  double low = 0, high = 0;  // what the value lies between
  std::vector<NodeId> args;
  std::vector<std::uint32_t> scope;  // the tunables it depends on, ascending
  std::vector<Word> table;           // constant: one word; leaf: one per value left in the domain
};

/// Formulas over tunables with finite domains. Equal nodes are one; what depends on a single tunable becomes
/// a table over its domain at once, and what is the same for all values a constant. A node that might fail (a
/// divisor that can be 0, integers beyond 62 bits) is refused: `none`.
class Formulas {
 public:
  static constexpr NodeId none = ~NodeId{0};

  explicit Formulas(std::vector<std::size_t> domain_sizes) : sizes_(std::move(domain_sizes)) {}

  [[nodiscard]] const FormulaNode& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] std::size_t tunable_count() const { return sizes_.size(); }
  [[nodiscard]] std::size_t domain_size(std::uint32_t tunable) const { return sizes_[tunable]; }

  NodeId constant(Word word, bool real);
  NodeId leaf(std::uint32_t tunable, std::vector<Word> table, bool real);
  /// Any operation but leaf, constant and table; `none` where an operand is `none` or the result might fail.
  NodeId make(FormulaOp op, std::vector<NodeId> args);
  /// a - b.
  NodeId subtract(NodeId a, NodeId b) { return make(FormulaOp::add, {a, make(FormulaOp::negate, {b})}); }
  /// 1 where `a` is not 0.
  NodeId truth(NodeId a);
  [[nodiscard]] bool is_constant(NodeId id) const { return nodes_[id].op == FormulaOp::constant; }
  [[nodiscard]] bool is_boolean(NodeId id) const {
    return !nodes_[id].real && nodes_[id].low >= 0 && nodes_[id].high <= 1;
  }

 private:
  NodeId intern(FormulaNode node);
  NodeId fold(FormulaOp op, const std::vector<NodeId>& args, const std::vector<std::uint32_t>& scope);
  NodeId make_many(FormulaOp op, std::vector<NodeId> args);
  bool to_reals(std::vector<NodeId>& args, std::size_t from);
  bool bounds(FormulaNode& node) const;
  [[nodiscard]] std::vector<std::uint32_t> scope_of(const std::vector<NodeId>& args) const;

  std::vector<std::size_t> sizes_;
  std::vector<FormulaNode> nodes_;
  std::unordered_multimap<std::uint64_t, NodeId> by_hash_;
};

}  // namespace kernelsearch::detail
