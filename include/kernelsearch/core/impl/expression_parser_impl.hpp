// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <utility>

#include "kernelsearch/core/impl/expression_data.hpp"
#include "kernelsearch/core/impl/expression_lexer_impl.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch::detail {

/// Recursive descent; the first error wins and stops everything.
class ExprParser {
 public:
  ExprParser(std::string_view text, ExpressionData& data, std::string& error)
      : lexer_(text), data_(data), error_(error), text_(text) {}

  bool parse() {
    advance();
    std::uint32_t root = expression();
    if (!failed_ && is_symbol(",")) root = bare_tuple(root);
    if (!failed_ && token_.kind != ExprToken::Kind::end) fail("an operator or the end");
    data_.root = root;
    return !failed_;
  }

 private:
  using Kind = ExprToken::Kind;

  void advance() { token_ = lexer_.next(); }
  bool is_symbol(std::string_view text) const { return token_.kind == Kind::symbol && token_.text == text; }
  bool is_name(std::string_view text) const { return token_.kind == Kind::name && token_.text == text; }

  bool accept(std::string_view symbol) {
    if (failed_ || !is_symbol(symbol)) return false;
    advance();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (failed_ || !is_name(word)) return false;
    advance();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("\"" + std::string(symbol) + "\"");
  }

  std::uint32_t fail(const std::string& expected) {
    std::string found = "the end";
    if (token_.kind == Kind::bad) {
      found = token_.problem;
    } else if (token_.kind != Kind::end) {
      found = "\"" + quoted_expression(token_.text) + "\"";
    }
    std::string hint;
    if (is_symbol("&&")) hint = ", the word \"and\"";
    if (is_symbol("||")) hint = ", the word \"or\"";
    if (is_symbol("!")) hint = ", the word \"not\"";
    if (is_symbol("=")) hint = ", \"==\"";
    return stop(token_.position,
                "found " + found + ", expected " + (hint.empty() ? expected : hint.substr(2)));
  }

  std::uint32_t stop(std::uint32_t position, const std::string& message) {
    if (!failed_) {
      failed_ = true;
      error_ = "at character " + std::to_string(position + 1) + " of `" + quoted_expression(text_) +
               "`: " + message;
    }
    return 0;
  }

  std::uint32_t add(ExprNode node) {
    for (const std::uint32_t arg : node.args) node.depth = std::max(node.depth, data_.nodes[arg].depth + 1);
    if (node.depth > ExprLimits::depth) {
      return stop(node.position,
                  "the formula is more than " + std::to_string(ExprLimits::depth) + " operations deep");
    }
    data_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(data_.nodes.size() - 1);
  }
  std::uint32_t add(ExprOp op, std::uint32_t position, std::vector<std::uint32_t> args) {
    if (failed_) return 0;
    ExprNode node;
    node.op = op;
    node.position = position;
    node.args = std::move(args);
    return add(std::move(node));
  }

  /// Guards the recursion; false (after an error) where brackets nest too deep.
  struct Nesting {
    explicit Nesting(ExprParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > ExprLimits::nesting) {
        parser_.stop(parser_.token_.position,
                     "nested more than " + std::to_string(ExprLimits::nesting) + " levels deep");
      }
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser_.nesting_; }
    ExprParser& parser_;
  };

  std::uint32_t expression() {
    const Nesting nesting(*this);
    if (failed_) return 0;
    const std::uint32_t value = logical_or();
    const std::uint32_t position = token_.position;
    if (!accept_word("if")) return value;
    const std::uint32_t condition = logical_or();
    if (!accept_word("else")) return fail("\"else\"");
    const std::uint32_t other = expression();
    return add(ExprOp::conditional, position, {condition, value, other});
  }

  std::uint32_t logical_or() { return logical("or", ExprOp::logical_or, &ExprParser::logical_and); }
  std::uint32_t logical_and() { return logical("and", ExprOp::logical_and, &ExprParser::logical_not); }

  std::uint32_t logical(std::string_view word, ExprOp op, std::uint32_t (ExprParser::*operand)()) {
    const std::uint32_t position = token_.position;
    std::vector<std::uint32_t> args{(this->*operand)()};
    while (accept_word(word)) args.push_back((this->*operand)());
    return args.size() == 1 ? args[0] : add(op, position, std::move(args));
  }

  std::uint32_t logical_not() {
    const Nesting nesting(*this);
    const std::uint32_t position = token_.position;
    if (accept_word("not")) {
      const std::uint32_t operand = logical_not();
      return add(ExprOp::logical_not, position, {operand});
    }
    return comparison();
  }

  bool comparison_operator(ExprOp& op) {
    if (failed_) return false;
    constexpr std::pair<std::string_view, ExprOp> symbols[] = {
        {"<", ExprOp::less},           {"<=", ExprOp::less_equal}, {">", ExprOp::greater},
        {">=", ExprOp::greater_equal}, {"==", ExprOp::equal},      {"!=", ExprOp::not_equal}};
    for (const auto& [symbol, symbol_op] : symbols) {
      if (accept(symbol)) return op = symbol_op, true;
    }
    if (accept_word("in")) return op = ExprOp::in, true;
    if (is_name("not")) {
      advance();
      if (!accept_word("in")) return fail("\"in\" after \"not\""), false;
      return op = ExprOp::not_in, true;
    }
    return false;
  }

  std::uint32_t comparison() {
    const std::uint32_t start = token_.position;
    std::uint32_t left = additive();
    std::vector<std::uint32_t> links;
    ExprOp op{};
    for (std::uint32_t position = token_.position; comparison_operator(op); position = token_.position) {
      const std::uint32_t right = additive();
      links.push_back(add(op, position, {left, right}));
      left = right;
    }
    if (links.empty()) return left;
    return links.size() == 1 ? links[0] : add(ExprOp::logical_and, start, std::move(links));
  }

  std::uint32_t additive() {
    std::uint32_t left = multiplicative();
    for (;;) {
      const std::uint32_t position = token_.position;
      if (accept("+")) {
        left = binary(ExprOp::add, position, left, multiplicative());
      } else if (accept("-")) {
        left = binary(ExprOp::subtract, position, left, multiplicative());
      } else {
        return left;
      }
    }
  }

  std::uint32_t binary(ExprOp op, std::uint32_t position, std::uint32_t left, std::uint32_t right) {
    return add(op, position, {left, right});
  }

  std::uint32_t multiplicative() {
    std::uint32_t left = unary();
    for (;;) {
      const std::uint32_t position = token_.position;
      if (accept("*")) {
        left = binary(ExprOp::multiply, position, left, unary());
      } else if (accept("//")) {
        left = binary(ExprOp::floor_divide, position, left, unary());
      } else if (accept("/")) {
        left = binary(ExprOp::divide, position, left, unary());
      } else if (accept("%")) {
        left = binary(ExprOp::modulo, position, left, unary());
      } else {
        return left;
      }
    }
  }

  std::uint32_t unary() {
    const Nesting nesting(*this);
    const std::uint32_t position = token_.position;
    if (accept("-")) return negated(position, unary());
    if (accept("+")) return add(ExprOp::plus, position, {unary()});
    const std::uint32_t base = postfix();
    const std::uint32_t power_position = token_.position;
    if (accept("**"))
      return binary(ExprOp::power, power_position, base, unary());  // right associative, above unary -
    return base;
  }

  std::uint32_t negated(std::uint32_t position, std::uint32_t operand) {
    return add(ExprOp::negate, position, {operand});
  }

  std::uint32_t postfix() {
    std::uint32_t value = primary();
    for (std::uint32_t position = token_.position; accept("["); position = token_.position) {
      const std::uint32_t at = expression();
      expect("]");
      value = add(ExprOp::index, position, {value, at});
    }
    return value;
  }

  std::uint32_t primary() {
    if (failed_) return 0;
    const ExprToken token = token_;
    if (token.kind == Kind::literal) {
      advance();
      ExprNode node;
      node.position = token.position;
      node.literal = token.literal;
      return add(std::move(node));
    }
    if (token.kind == Kind::name) return named(token);
    if (accept("(")) return parenthesised(token.position);
    if (accept("[")) return display(token.position);
    return fail("a number, a name, a string, \"(\" or \"[\"");
  }

  std::uint32_t named(const ExprToken& token) {
    for (const std::string_view word : {"and", "or", "not", "in", "if", "else", "for"}) {
      if (token.text == word) return fail("a value");
    }
    advance();
    if (is_symbol("(")) return call(token);
    ExprNode node;
    node.position = token.position;
    if (token.text == "True" || token.text == "true" || token.text == "False" || token.text == "false") {
      node.literal = token.text[0] == 'T' || token.text[0] == 't';
    } else {
      node.op = ExprOp::name;
      node.name = std::string(token.text);
    }
    return add(std::move(node));
  }

  std::uint32_t call(const ExprToken& token) {
    static constexpr std::pair<std::string_view, ExprFunction> functions[] = {
        {"min", ExprFunction::min},        {"max", ExprFunction::max},     {"abs", ExprFunction::abs},
        {"len", ExprFunction::len},        {"sum", ExprFunction::sum},     {"range", ExprFunction::range},
        {"list", ExprFunction::list},      {"tuple", ExprFunction::tuple}, {"int", ExprFunction::to_int},
        {"float", ExprFunction::to_float}, {"round", ExprFunction::round}};
    ExprNode node;
    node.op = ExprOp::call;
    node.position = token.position;
    bool known = false;
    std::vector<std::string> all;
    for (const auto& [name, function] : functions) {
      all.emplace_back(name);
      if (name == token.text) {
        known = true;
        node.function = function;
      }
    }
    if (!known) {
      const std::string near = nearest_name(token.text, all);
      return stop(token.position,
                  "found the unknown function \"" + std::string(token.text) + "\", expected " +
                      (near.empty() ? "one of min max abs len sum range list tuple int float round"
                                    : "perhaps \"" + near + "\""));
    }
    expect("(");
    if (!accept(")")) {
      node.args.push_back(expression());
      if (is_name("for")) {  // sum(x for x in ...)
        node.args[0] = comprehension(node.args[0], token.position);
        expect(")");
      } else {
        while (!accept(")")) {
          expect(",");
          if (failed_) return 0;
          if (accept(")")) break;
          node.args.push_back(expression());
        }
      }
    }
    const std::size_t count = node.args.size();
    std::size_t least = 1, most = 1;
    if (node.function == ExprFunction::min || node.function == ExprFunction::max) most = 4096;
    if (node.function == ExprFunction::range) most = 3;
    if (node.function == ExprFunction::sum || node.function == ExprFunction::round) most = 2;
    if (node.function == ExprFunction::list || node.function == ExprFunction::tuple) least = 0;
    if (count < least || count > most) {
      return stop(token.position, "found " + std::to_string(count) + " arguments of " +
                                      std::string(token.text) + ", expected " + std::to_string(least) +
                                      (most == least ? "" : " to " + std::to_string(most)));
    }
    return failed_ ? 0 : add(std::move(node));
  }

  std::uint32_t bare_tuple(std::uint32_t first) {
    std::vector<std::uint32_t> items{first};
    while (accept(",")) {
      if (token_.kind == Kind::end) break;
      items.push_back(expression());
    }
    return add(ExprOp::list, data_.nodes[first].position, std::move(items));
  }

  std::uint32_t parenthesised(std::uint32_t position) {
    if (accept(")")) return add(ExprOp::list, position, {});
    const std::uint32_t first = expression();
    if (is_name("for")) {
      const std::uint32_t list = comprehension(first, position);
      expect(")");
      return list;
    }
    if (accept(")")) return first;
    std::vector<std::uint32_t> items{first};
    while (!accept(")")) {
      if (!accept(",")) return fail("\",\" or \")\"");
      if (accept(")")) break;
      items.push_back(expression());
    }
    return add(ExprOp::list, position, std::move(items));
  }

  std::uint32_t display(std::uint32_t position) {
    if (accept("]")) return add(ExprOp::list, position, {});
    const std::uint32_t first = expression();
    if (is_name("for")) {
      const std::uint32_t list = comprehension(first, position);
      expect("]");
      return list;
    }
    std::vector<std::uint32_t> items{first};
    while (!accept("]")) {
      if (!accept(",")) return fail("\",\" or \"]\"");
      if (accept("]")) break;
      items.push_back(expression());
    }
    return add(ExprOp::list, position, std::move(items));
  }

  std::uint32_t comprehension(std::uint32_t element, std::uint32_t position) {
    ExprNode node;
    node.op = ExprOp::comprehension;
    node.position = position;
    node.args.push_back(element);
    while (!failed_ && (is_name("for") || is_name("if"))) {
      ExprClause clause;
      clause.is_for = is_name("for");
      advance();
      if (clause.is_for) {
        if (token_.kind != Kind::name) return fail("the name of the loop's variable");
        clause.name = std::string(token_.text);
        advance();
        if (!accept_word("in")) return fail("\"in\"");
      }
      // As in Python, a clause takes no conditional expression without brackets: its `if` is the next clause.
      node.args.push_back(logical_or());
      node.clauses.push_back(std::move(clause));
    }
    return failed_ ? 0 : add(std::move(node));
  }

  ExprLexer lexer_;
  ExpressionData& data_;
  std::string& error_;
  std::string_view text_;
  ExprToken token_;
  std::uint32_t nesting_ = 0;
  bool failed_ = false;
};

KERNELSEARCH_INLINE std::string quoted_expression(std::string_view text) {
  constexpr std::size_t longest = 120;
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, longest)) + "...";
}

KERNELSEARCH_INLINE bool parse_expression(std::string_view text, ExpressionData& data, std::string& error) {
  if (text.size() > ExprLimits::text) {
    error = "found " + std::to_string(text.size()) + " characters, expected at most " +
            std::to_string(ExprLimits::text);
    return false;
  }
  data.text = std::string(text);
  return ExprParser(data.text, data, error).parse();
}

}  // namespace kernelsearch::detail
