// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir_constraint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch::detail {
namespace {

/// Values used twice stand twice in the text: a chain of squares would double at every step.
constexpr std::size_t longest_term = 20'000;

using Terms = std::vector<MlirTerm>;

std::string in_brackets(const Terms& terms, std::string_view between) {
  return "(" + detail::joined(terms, between, [](const MlirTerm& term) { return term.text; }) + ")";
}

bool is_positive_number(const std::string& text) {
  return text != "0" && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The remainder in [0, |b|) that SMT-LIB's `mod` is.
std::string remainder(const MlirTerm& a, const MlirTerm& b) {
  return "(" + a.text + " % " + (is_positive_number(b.text) ? b.text : "abs(" + b.text + ")") + ")";
}

std::string quotient(const MlirTerm& a, const MlirTerm& b) {
  if (is_positive_number(b.text)) return "(" + a.text + " // " + b.text + ")";
  return "((" + a.text + " - " + remainder(a, b) + ") // " + b.text + ")";
}

std::string all_different(const Terms& terms) {
  std::string text;
  for (std::size_t i = 0; i < terms.size() && text.size() <= longest_term; ++i)
    for (std::size_t j = i + 1; j < terms.size(); ++j)
      text += (text.empty() ? "" : " and ") + terms[i].text + " != " + terms[j].text;
  return text.empty() ? "True" : "(" + text + ")";
}

/// Each in parentheses of its own: a != b != c would be a chain of comparisons.
std::string exclusive_or(const Terms& terms) {
  std::string text = terms.empty() ? "False" : terms[0].text;
  for (std::size_t i = 1; i < terms.size(); ++i) text = "(" + text + " != " + terms[i].text + ")";
  return text;
}

constexpr std::array<std::string_view, 4> predicates{" < ", " <= ", " > ", " >= "};

/// `28 : ui8`. Its type says unsigned and how wide, but the highest bit is the sign: -5 is `11 : ui4`, and 11
/// is `11 : ui8` (mlir::smt::IntConstantOp keeps an APInt that the parser made wide enough for a sign).
std::optional<std::int64_t> constant(std::string_view printed) {
  __extension__ using Wide = unsigned __int128;
  __extension__ using Signed = __int128;
  std::size_t at = 0;
  Wide value = 0;
  const bool minus = !printed.empty() && printed[0] == '-';
  if (minus) at = 1;
  const std::size_t first = at;
  for (; at < printed.size() && printed[at] >= '0' && printed[at] <= '9'; ++at) {
    if (value > (Wide{1} << 120)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(printed[at] - '0');
  }
  if (at == first) return std::nullopt;
  Signed result = static_cast<Signed>(value);
  if (at < printed.size()) {
    const std::size_t digits = printed.find_first_of("0123456789", at);
    unsigned width = 0;
    if (digits == std::string_view::npos) return std::nullopt;
    const auto [end, error] =
        std::from_chars(printed.data() + digits, printed.data() + printed.size(), width);
    if (error != std::errc() || end != printed.data() + printed.size() || width == 0 || width > 120)
      return std::nullopt;
    if (value >> width != 0) return std::nullopt;
    if (!minus && (value >> (width - 1)) != 0) result -= static_cast<Signed>(Wide{1} << width);
  }
  if (minus) result = -result;
  if (result < std::numeric_limits<std::int64_t>::min() || result > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(result);
}

struct SmtRule {
  std::string_view name;
  std::size_t least, most;  ///< operands
  char operands;            ///< i: integers, b: bools, s: all of one kind, c: a bool and two of one kind
  bool boolean;             ///< the result, unless it is of the operands' kind
};

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
constexpr SmtRule smt_rules[] = {
    {"smt.int.constant", 0, 0, 'i', false},
    {"smt.constant", 0, 0, 'b', true},
    {"smt.int.add", 1, any_number, 'i', false},
    {"smt.int.mul", 1, any_number, 'i', false},
    {"smt.int.sub", 2, 2, 'i', false},
    {"smt.int.div", 2, 2, 'i', false},
    {"smt.int.mod", 2, 2, 'i', false},
    {"smt.int.abs", 1, 1, 'i', false},
    {"smt.int.cmp", 2, 2, 'i', true},
    {"smt.eq", 2, any_number, 's', true},
    {"smt.distinct", 2, any_number, 's', true},
    {"smt.and", 1, any_number, 'b', true},
    {"smt.or", 1, any_number, 'b', true},
    {"smt.xor", 1, any_number, 'b', true},
    {"smt.not", 1, 1, 'b', true},
    {"smt.implies", 2, 2, 'b', true},
    {"smt.ite", 3, 3, 'c', false},
};

Fault refused(const MlirOperation& operation, std::string_view why) {
  return Fault{
      std::string("an operation of the schedule's constraints ") + std::string(why),
      operation.place + ": " + operation.name,
      "use smt.int.constant, add, sub, mul, div, mod, abs, cmp, smt.eq, distinct, and, or, xor, not, "
      "implies, ite, constant and assert over knobs"};
}

bool fits(const SmtRule& shape, const Terms& operands) {
  const auto kind = [&](std::size_t i) { return operands[i].boolean; };
  if (operands.size() < shape.least || operands.size() > shape.most) return false;
  if (shape.operands == 'c') return kind(0) && kind(1) == kind(2);
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (kind(i) != (shape.operands == 'b' || (shape.operands == 's' && kind(0)))) return false;
  return true;
}

/// Nothing for a constant or predicate that cannot be read.
std::optional<std::string> translated(const MlirOperation& operation, const Terms& x) {
  const std::string_view name = operation.name;
  const std::string* const value = operation.find(name == "smt.int.cmp" ? "pred" : "value");
  if (name == "smt.int.constant") {
    const auto number = value == nullptr ? std::nullopt : constant(*value);
    if (!number) return std::nullopt;
    // There is no literal for the smallest one: a minus is an operation on a number that would be too large.
    if (*number == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    return *number < 0 ? "(" + std::to_string(*number) + ")" : std::to_string(*number);
  }
  if (name == "smt.constant") {
    if (value == nullptr || (*value != "true" && *value != "false")) return std::nullopt;
    return *value == "true" ? "True" : "False";
  }
  if (name == "smt.int.cmp") {
    const auto number = value == nullptr ? std::nullopt : mlir_integer(*value);
    if (!number || number->value < 0 || number->value > 3) return std::nullopt;
    return in_brackets(x, predicates[static_cast<std::size_t>(number->value)]);
  }
  if (name == "smt.int.add") return in_brackets(x, " + ");
  if (name == "smt.int.mul") return in_brackets(x, " * ");
  if (name == "smt.int.sub") return in_brackets(x, " - ");
  if (name == "smt.int.div") return quotient(x[0], x[1]);
  if (name == "smt.int.mod") return remainder(x[0], x[1]);
  if (name == "smt.int.abs") return "abs(" + x[0].text + ")";
  if (name == "smt.eq") return in_brackets(x, " == ");
  if (name == "smt.distinct") return all_different(x);
  if (name == "smt.and") return in_brackets(x, " and ");
  if (name == "smt.or") return in_brackets(x, " or ");
  if (name == "smt.xor") return exclusive_or(x);
  if (name == "smt.not") return "(not " + x[0].text + ")";
  if (name == "smt.implies") return "(not " + x[0].text + " or " + x[1].text + ")";
  return "(" + x[1].text + " if " + x[0].text + " else " + x[2].text + ")";
}

}  // namespace

Result<MlirConditions> try_conditions(const MlirOperation& operation, const std::vector<MlirTerm>& operands) {
  if (operation.regions.size() != 1 || operation.regions[0].size() != 1)
    return refused(operation, "has no body of one block");
  const MlirBlock& body = operation.regions[0][0];
  if (body.arguments.size() != operands.size())
    return refused(operation, "has not as many arguments as operands");
  std::map<std::string, MlirTerm> known;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string& type = body.arguments[i].second;
    if (type != (operands[i].boolean ? "!smt.bool" : "!smt.int"))
      return refused(operation, "has an argument of type " + type + " for a choice of another type");
    known[body.arguments[i].first] = operands[i];
  }
  MlirConditions result;
  for (const MlirOperation& one : body.operations) {
    Terms x;
    for (const std::string& name : one.operands) {
      const auto found = known.find(name);
      if (found == known.end()) return refused(one, "uses a value from outside of its body (" + name + ")");
      x.push_back(found->second);
    }
    if (one.name == "smt.yield") {
      result.yielded = std::move(x);
      continue;
    }
    if (one.name == "smt.assert" && x.size() == 1 && x[0].boolean) {
      result.asserted.push_back(x[0].text);
      continue;
    }
    const auto* const shape = std::find_if(std::begin(smt_rules), std::end(smt_rules),
                                           [&](const SmtRule& s) { return s.name == one.name; });
    if (shape == std::end(smt_rules)) return refused(one, "has no translation");
    if (one.results.size() != 1 || !fits(*shape, x))
      return refused(one, "has operands that do not fit (only !smt.int and !smt.bool are read)");
    std::optional<std::string> text = translated(one, x);
    if (!text) return refused(one, "has a constant beyond 64 bits or none");
    if (text->size() > longest_term)
      return refused(one, "makes an expression of over 20000 characters (each use of a value repeats it)");
    known[one.results[0]] = {*std::move(text), shape->operands == 'c' ? x[1].boolean : shape->boolean};
  }
  if (result.yielded.size() != operation.results.size())
    return refused(operation, "has not as many results as it yields");
  return result;
}

}  // namespace kernelsearch::detail
