// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/core/impl/expression_data.hpp"

namespace kernelsearch::detail {

/// Instructions beyond the operators of ExprOp, which keep their own numbers.
enum class ExprCode : std::uint8_t {
  push = 100,  // constant `argument`
  load,        // value of slot `argument`
  load_local,
  store_local,
  jump,
  jump_if_false,  // pops
  jump_if_false_or_pop,
  jump_if_true_or_pop,
  make_list,  // of the top `argument` values
  iterate,    // replaces a sequence by an iterator over it
  next,       // pushes the next element, or pops the iterator and jumps
  append,     // pops a value onto the list `argument` places below
};

/// Turns the tree into a stack program. Depths are bounded by the parser, sizes here.
class ExprCompiler {
 public:
  ExprCompiler(ExpressionData& data, std::string& error) : data_(data), error_(error) {}

  bool compile() {
    std::vector<std::pair<std::string, std::uint32_t>> scope;
    resolved_.assign(data_.nodes.size(), false);
    resolve(data_.root, scope);
    emit_node(data_.root);
    data_.used.assign(data_.names.size(), true);
    return !failed_;
  }

  /// Compiles the part of an already compiled formula below `root`.
  bool compile_part(std::uint32_t root) {
    data_.root = root;
    data_.program.clear();
    data_.constants.clear();
    data_.stack_depth = 0;
    emit_node(root);
    return !failed_;
  }

 private:
  using Scope = std::vector<std::pair<std::string, std::uint32_t>>;

  /// Gives each name its slot. A node shared by a chained comparison is reached twice under the same scope.
  void resolve(std::uint32_t index, Scope& scope) {
    if (resolved_[index]) return;
    resolved_[index] = true;
    ExprNode& node = data_.nodes[index];
    if (node.op == ExprOp::name) return resolve_name(node, scope);
    if (node.op != ExprOp::comprehension) {
      for (const std::uint32_t arg : node.args) resolve(arg, scope);
      return;
    }
    const std::size_t outer = scope.size();
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
      resolve(node.args[i + 1], scope);
      if (!node.clauses[i].is_for) continue;
      node.clauses[i].slot = data_.local_count++;
      scope.emplace_back(node.clauses[i].name, node.clauses[i].slot);
    }
    resolve(node.args[0], scope);
    scope.resize(outer);
  }

  void resolve_name(ExprNode& node, const Scope& scope) {
    for (std::size_t i = scope.size(); i-- > 0;) {
      if (scope[i].first == node.name) {
        node.op = ExprOp::local;
        node.slot = scope[i].second;
        return;
      }
    }
    for (std::size_t i = 0; i < data_.names.size(); ++i) {
      if (data_.names[i] == node.name) {
        node.slot = static_cast<std::uint32_t>(i);
        return;
      }
    }
    node.slot = static_cast<std::uint32_t>(data_.names.size());
    data_.names.push_back(node.name);
  }

  std::size_t emit(std::uint8_t op, std::uint32_t argument, std::uint32_t position, int effect) {
    if (data_.program.size() >= ExprLimits::program && !failed_) {
      failed_ = true;
      error_ = "`" + quoted_expression(data_.text) + "` needs more than " +
               std::to_string(ExprLimits::program) + " instructions; simplify it";
    }
    depth_ += effect;
    data_.stack_depth = std::max(data_.stack_depth, static_cast<std::uint32_t>(depth_));
    if (!failed_) data_.program.push_back({op, 0, argument, position});
    return failed_ ? 0 : data_.program.size() - 1;
  }
  std::size_t emit(ExprCode op, std::uint32_t argument, std::uint32_t position, int effect) {
    return emit(static_cast<std::uint8_t>(op), argument, position, effect);
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(data_.program.size()); }
  void land(std::size_t jump) {
    if (!failed_) data_.program[jump].argument = here();
  }

  void emit_node(std::uint32_t index) {
    if (failed_) return;
    const ExprNode& node = data_.nodes[index];
    switch (node.op) {
      case ExprOp::literal:
        data_.constants.push_back(node.literal);
        emit(ExprCode::push, static_cast<std::uint32_t>(data_.constants.size() - 1), node.position, 1);
        return;
      case ExprOp::name:
        emit(ExprCode::load, node.slot, node.position, 1);
        return;
      case ExprOp::local:
        emit(ExprCode::load_local, node.slot, node.position, 1);
        return;
      case ExprOp::logical_and:
      case ExprOp::logical_or:
        return emit_logical(node);
      case ExprOp::conditional:
        return emit_conditional(node);
      case ExprOp::comprehension:
        return emit_comprehension(node);
      default:
        break;
    }
    for (const std::uint32_t arg : node.args) emit_node(arg);
    const int count = static_cast<int>(node.args.size());
    if (node.op == ExprOp::list) {
      emit(ExprCode::make_list, static_cast<std::uint32_t>(count), node.position, 1 - count);
      return;
    }
    const std::size_t at =
        emit(static_cast<std::uint8_t>(node.op), static_cast<std::uint32_t>(count), node.position, 1 - count);
    if (!failed_) data_.program[at].function = static_cast<std::uint8_t>(node.function);
  }

  void emit_logical(const ExprNode& node) {
    const ExprCode code =
        node.op == ExprOp::logical_and ? ExprCode::jump_if_false_or_pop : ExprCode::jump_if_true_or_pop;
    std::vector<std::size_t> jumps;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      emit_node(node.args[i]);
      if (i + 1 < node.args.size()) jumps.push_back(emit(code, 0, node.position, -1));
    }
    for (const std::size_t jump : jumps) land(jump);
  }

  void emit_conditional(const ExprNode& node) {
    emit_node(node.args[0]);
    const std::size_t to_other = emit(ExprCode::jump_if_false, 0, node.position, -1);
    emit_node(node.args[1]);
    const std::size_t to_end = emit(ExprCode::jump, 0, node.position, -1);
    land(to_other);
    emit_node(node.args[2]);
    land(to_end);
  }

  void emit_comprehension(const ExprNode& node) {
    emit(ExprCode::make_list, 0, node.position, 1);
    std::vector<std::size_t> loops;  // positions of the `next` instructions, outermost first
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
      emit_node(node.args[i + 1]);
      if (node.clauses[i].is_for) {
        emit(ExprCode::iterate, 0, node.position, 0);
        loops.push_back(emit(ExprCode::next, 0, node.position, 1));
        emit(ExprCode::store_local, node.clauses[i].slot, node.position, -1);
      } else {
        emit(ExprCode::jump_if_false, static_cast<std::uint32_t>(loops.back()), node.position, -1);
      }
    }
    emit_node(node.args[0]);
    emit(ExprCode::append, static_cast<std::uint32_t>(loops.size()), node.position, -1);
    for (std::size_t i = loops.size(); i-- > 0;) {
      emit(ExprCode::jump, static_cast<std::uint32_t>(loops[i]), node.position, 0);
      land(loops[i]);
      --depth_;
    }
  }

  ExpressionData& data_;
  std::string& error_;
  std::vector<bool> resolved_;
  int depth_ = 0;
  bool failed_ = false;
};

inline bool compile_expression(ExpressionData& data, std::string& error) {
  return ExprCompiler(data, error).compile();
}

}  // namespace kernelsearch::detail
