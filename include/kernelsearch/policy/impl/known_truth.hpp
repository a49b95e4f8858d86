// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/impl/expression_machine_impl.hpp"

namespace kernelsearch::detail {

/// The truth of a condition over features, some of which are not known (Kleene's three values): `and`, `or`,
/// `not` and `if` are decided by what is known where that suffices; any other part of the formula is known
/// where all that it reads is.
class KnownTruth {
 public:
  KnownTruth(const Expression& condition, const Features& features) : data_(condition.data()) {
    for (const std::string& name : data_.names) {
      const std::optional<double> value = features.find(name);
      values_.push_back(value && std::isfinite(*value) ? value : std::nullopt);
    }
  }

  [[nodiscard]] std::optional<bool> value() const { return truth(data_.root); }

  /// The formula as a number; empty where something that it reads is not known or it has no number.
  [[nodiscard]] std::optional<double> number() const {
    std::optional<double> result;
    run(data_.root, [&](const ExprMachine&, const ExprCell& found) {
      if (found.number()) result = found.as_real();
    });
    return result && std::isfinite(*result) ? result : std::nullopt;
  }

  /// What decided, with the values: `stall_wait 12 % is not over 20`; of an undecided condition, what is not
  /// known.
  [[nodiscard]] std::string words() const {
    std::vector<std::string> found;
    if (const std::optional<bool> known = value())
      explain(data_.root, *known, found);
    else
      missing(data_.root, found);
    std::string text;
    for (const std::string& one : found) text += (text.empty() ? "" : ", ") + one;
    return text;
  }

 private:
  [[nodiscard]] std::optional<bool> truth(std::uint32_t index) const {
    const ExprNode& node = data_.nodes[index];
    switch (node.op) {
      case ExprOp::logical_not: {
        const std::optional<bool> inner = truth(node.args[0]);
        return inner ? std::optional<bool>(!*inner) : std::nullopt;
      }
      case ExprOp::logical_and:
      case ExprOp::logical_or: {
        const bool decides = node.op == ExprOp::logical_or;
        bool all_known = true;
        for (const std::uint32_t arg : node.args) {
          const std::optional<bool> one = truth(arg);
          if (one && *one == decides) return decides;
          all_known = all_known && one;
        }
        return all_known ? std::optional<bool>(!decides) : std::nullopt;
      }
      case ExprOp::conditional: {
        if (const std::optional<bool> condition = truth(node.args[0]))
          return truth(node.args[*condition ? 1 : 2]);
        const std::optional<bool> first = truth(node.args[1]);
        return first == truth(node.args[2]) ? first : std::nullopt;
      }
      default: {
        std::optional<bool> result;
        run(index, [&](const ExprMachine& machine, const ExprCell& cell) { result = machine.truth(cell); });
        return result;
      }
    }
  }

  /// Evaluates the part below `index`, if all that it reads is known, and passes on what came of it.
  template <class Use>
  void run(std::uint32_t index, const Use& use) const {
    std::vector<std::string> unknown;
    unknown_names(index, unknown);
    if (!unknown.empty()) return;
    ExpressionData part = data_;
    std::string error;
    if (!ExprCompiler(part, error).compile_part(index)) return;
    ExprMachine machine(part);
    ExprCell cell;
    if (machine.run([&](std::uint32_t slot) { return ExprCell::of(values_[slot].value_or(0.0)); }, cell))
      use(machine, cell);
  }

  static void add(std::vector<std::string>& found, std::string text) {
    if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
  }

  void unknown_names(std::uint32_t index, std::vector<std::string>& found) const {
    const ExprNode& node = data_.nodes[index];
    if (node.op == ExprOp::name && !values_[node.slot]) add(found, node.name);
    for (const std::uint32_t arg : node.args) unknown_names(arg, found);
  }

  void explain(std::uint32_t index, bool known, std::vector<std::string>& found) const {
    const ExprNode& node = data_.nodes[index];
    switch (node.op) {
      case ExprOp::logical_not:
        return explain(node.args[0], !known, found);
      case ExprOp::logical_and:
      case ExprOp::logical_or:
        // For a conjunction that fails those that fail, of one that holds all; disjunctions the other way.
        for (const std::uint32_t arg : node.args)
          if (truth(arg) == known) explain(arg, known, found);
        return;
      case ExprOp::conditional: {
        const std::optional<bool> condition = truth(node.args[0]);
        if (condition) explain(node.args[0], *condition, found);
        return explain(node.args[condition.value_or(true) ? 1 : 2], known, found);
      }
      default:
        return add(found, sentence(node, known));
    }
  }

  void missing(std::uint32_t index, std::vector<std::string>& found) const {
    const ExprNode& node = data_.nodes[index];
    const bool logic = node.op == ExprOp::logical_not || node.op == ExprOp::logical_and ||
                       node.op == ExprOp::logical_or || node.op == ExprOp::conditional;
    if (logic) {
      for (const std::uint32_t arg : node.args)
        if (!truth(arg)) missing(arg, found);
      return;
    }
    std::vector<std::string> names;
    unknown_names(index, names);
    for (const std::string& name : names) add(found, name + " is not known");
    if (names.empty()) add(found, "`" + data_.text + "` has no value");
  }

  [[nodiscard]] std::string sentence(const ExprNode& node, bool known) const {
    constexpr std::string_view trait = "trait.";
    if (node.op == ExprOp::name && std::string_view(node.name).substr(0, trait.size()) == trait)
      return std::string("the problem is ") + (known ? "" : "not ") + "of trait " +
             node.name.substr(trait.size());
    const std::string_view verb = comparison(node.op);
    if (node.args.size() == 2 && !verb.empty())
      return shown(node.args[0]) + (known ? " is " : " is not ") + std::string(verb) + shown(node.args[1]);
    if (node.op == ExprOp::name || node.op == ExprOp::literal) return shown(node);
    return shown(node) + (known ? " holds" : " does not hold");
  }

  static std::string_view comparison(ExprOp op) {
    switch (op) {
      case ExprOp::less:
        return "under ";
      case ExprOp::less_equal:
        return "at most ";
      case ExprOp::greater:
        return "over ";
      case ExprOp::greater_equal:
        return "at least ";
      case ExprOp::equal:
        return "equal to ";
      case ExprOp::not_equal:
        return "other than ";
      default:
        return {};
    }
  }

  static std::string number_text(double value) {
    char text[32];
    (void)std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  /// Whether a feature is in percent, so that people are told.
  static bool in_percent(std::string_view name) {
    const auto ends = [&](std::string_view with) {
      return name.size() >= with.size() && name.substr(name.size() - with.size()) == with;
    };
    return name.substr(0, 6) == "stall_" || ends("_utilisation") || ends("_hit") || ends("_efficiency") ||
           ends("_occupancy") || ends(".pct") || name == "bank_conflicts" || name == "coalescing";
  }

  [[nodiscard]] std::string shown(std::uint32_t index) const { return shown(data_.nodes[index]); }
  [[nodiscard]] std::string shown(const ExprNode& node) const {
    if (node.op == ExprOp::literal) return to_string(node.literal);
    if (node.op == ExprOp::name) {
      const std::optional<double>& value = values_[node.slot];
      if (!value) return node.name;
      return node.name + " " + number_text(*value) + (in_percent(node.name) ? " %" : "");
    }
    constexpr std::string_view signs[] = {" + ", " - ", " * ", " / "};
    const auto sign = static_cast<std::size_t>(node.op) - static_cast<std::size_t>(ExprOp::add);
    if (node.op >= ExprOp::add && node.op <= ExprOp::divide)
      return "(" + shown(node.args[0]) + std::string(signs[sign]) + shown(node.args[1]) + ")";
    if (node.op == ExprOp::call &&
        (node.function == ExprFunction::min || node.function == ExprFunction::max)) {
      std::string text;
      for (const std::uint32_t arg : node.args) text += (text.empty() ? "" : " and ") + shown(arg);
      return (node.function == ExprFunction::min ? "the least of " : "the largest of ") + text;
    }
    return "`" + data_.text + "`";
  }

  const ExpressionData& data_;
  std::vector<std::optional<double>> values_;
};

}  // namespace kernelsearch::detail
