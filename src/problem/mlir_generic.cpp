// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir_generic.hpp"

#include <algorithm>
#include <charconv>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t longest_mlir = std::size_t{16} << 20;
constexpr int deepest_mlir = 64;
constexpr std::size_t most_results = 4096;

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_word(char c) noexcept {
  return in_word(c) || c == '$' || c == '.' || c == '-';
}
char closing(char open) noexcept {
  return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>';
}

/// Reads one text from front to back. The first fault ends it: `fault_` is set and every further step fails.
class GenericReader {
 public:
  GenericReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<MlirText> whole() {
    if (text_.size() > longest_mlir)
      return Fault{"the MLIR text is too long", file_ + ": " + std::to_string(text_.size()) + " bytes",
                   "at most 16 MiB are read"};
    MlirText result;
    while (skip(), !fault_ && at_ < text_.size()) {
      MlirOperation operation;
      if (!read(operation)) break;
      result.operations.push_back(std::move(operation));
    }
    if (fault_) return *std::move(fault_);
    result.locations = std::move(locations_);
    return result;
  }

 private:
  /// Lines are counted on from where they were counted last: an operation's place costs its own length.
  std::string line() {
    const std::size_t at = std::min(at_, text_.size());
    if (at < counted_) counted_ = 0, line_ = 1;
    const auto begin = text_.begin();
    line_ += std::count(begin + static_cast<std::ptrdiff_t>(counted_),
                        begin + static_cast<std::ptrdiff_t>(at), '\n');
    counted_ = at;
    return file_ + ":" + std::to_string(line_);
  }

  bool refuse(const std::string& expected) {
    if (fault_) return false;
    std::string here(text_.substr(std::min(at_, text_.size()), 24));
    here.resize(std::min(here.find('\n'), here.size()));
    fault_ = Fault{"this is not MLIR in its generic form", line() + ": " + (here.empty() ? "the end" : here),
                   expected +
                       " was expected; print it with `mlir-opt --mlir-print-op-generic "
                       "--mlir-print-local-scope`"};
    return false;
  }

  void skip() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_]))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }

  bool peek(std::string_view what) {
    skip();
    return text_.substr(at_, what.size()) == what;
  }

  bool accept(std::string_view what) {
    if (!peek(what)) return false;
    at_ += what.size();
    return true;
  }

  bool require(std::string_view what) {
    return !fault_ && (accept(what) || refuse("`" + std::string(what) + "`"));
  }

  /// A string with its quotes; `at_` is at the first.
  bool skip_string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] != '"') {
      at_ = begin;
      return refuse("the end of a string");
    }
    ++at_;
    return true;
  }

  /// The printed text of an attribute or type: up to what ends it outside of all brackets and strings. A type
  /// also ends at a space there.
  bool balanced(std::string& into, bool type) {
    skip();
    const std::size_t begin = at_;
    std::string open;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (open.empty() && (c == ',' || c == ')' || c == ']' || c == '}' || c == '>' || (type && is_space(c))))
        break;
      if (open.empty() && c == '\n') break;
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      const std::string_view two = text_.substr(at_, 2);
      if (two == "->" || two == ">=" || two == "<=") {
        at_ += 2;
        continue;
      }
      if (c == '(' || c == '[' || c == '{' || c == '<') open.push_back(closing(c));
      if (c == ')' || c == ']' || c == '}' || c == '>') {
        if (open.back() != c) return refuse(std::string("`") + open.back() + "`");
        open.pop_back();
      }
      ++at_;
    }
    if (!open.empty()) return refuse(std::string("`") + open.back() + "`");
    std::size_t end = at_;
    while (end > begin && is_space(text_[end - 1])) --end;
    into.assign(text_.substr(begin, end - begin));
    std::replace(into.begin(), into.end(), '\n', ' ');  // what is written alone ends at its line
    return !into.empty() || refuse(type ? "a type" : "an attribute");
  }

  bool word(std::string& into, const char* what) {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    into.assign(text_.substr(begin, at_ - begin));
    return !into.empty() || refuse(what);
  }

  bool value_name(std::string& into) {
    if (!require("%")) return false;
    std::string rest;
    if (!word(rest, "the name of a value")) return false;
    into = "%" + rest;
    return true;
  }

  bool results(MlirOperation& operation) {
    do {
      std::string name;
      if (!value_name(name)) return false;
      if (!accept(":")) {
        operation.results.push_back(std::move(name));
        continue;
      }
      std::size_t count = 0;
      skip();
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), count);
      if (error != std::errc() || count == 0 || count > most_results) return refuse("a number of results");
      at_ = static_cast<std::size_t>(end - text_.data());
      if (count == 1) operation.results.push_back(name);
      for (std::size_t i = 0; count > 1 && i < count; ++i)
        operation.results.push_back(name + "#" + std::to_string(i));
      if (operation.results.size() > most_results) return refuse("fewer results");
    } while (accept(","));
    return require("=");
  }

  bool operands(MlirOperation& operation) {
    if (!require("(")) return false;
    if (accept(")")) return true;
    do {
      std::string name;
      if (!value_name(name)) return false;
      if (accept("#")) {
        std::string index;
        if (!word(index, "the number of a result")) return false;
        name += "#" + index;
      }
      operation.operands.push_back(std::move(name));
    } while (accept(","));
    return require(")");
  }

  bool successors() {
    if (!accept("[")) return true;
    do {
      std::string name;
      if (!require("^") || !word(name, "the name of a block")) return false;
      if (!accept("(")) continue;
      std::string argument;
      while (!peek(")")) {
        if (!balanced(argument, false)) return false;
        if (!accept(",")) break;
      }
      if (!require(")")) return false;
    } while (accept(","));
    return require("]");
  }

  /// `key = value, "key", ...}`: what follows an opening brace.
  bool entries(std::vector<std::pair<std::string, std::string>>& into) {
    if (accept("}")) return true;
    do {
      std::string key, value;
      if (peek("\"")) {
        const std::size_t begin = at_;
        if (!skip_string()) return false;
        key = mlir_string(text_.substr(begin, at_ - begin)).value_or("");
      } else if (!word(key, "the name of an attribute")) {
        return false;
      }
      if (accept("=")) {
        if (!balanced(value, false)) return false;
      } else {
        value = "unit";
      }
      into.emplace_back(std::move(key), std::move(value));
    } while (accept(","));
    return require("}");
  }

  bool types(std::vector<std::string>& into) {
    if (accept(")")) return true;
    do {
      std::string type;
      if (!balanced(type, false)) return false;
      into.push_back(std::move(type));
    } while (accept(","));
    return require(")");
  }

  /// ` loc(...)`; its place where it is one of a file.
  bool location(std::string* place) {
    skip();
    if (text_.substr(at_, 4) != "loc(") return true;
    std::size_t begin = at_;
    at_ += 4;
    std::string printed;
    if (!balanced(printed, false)) return false;
    while (accept(","))  // fused locations of a deeper form stand in brackets of their own
      if (std::string more; !balanced(more, false)) return false;
    if (!require(")")) return false;
    while (begin > 0 && text_[begin - 1] == ' ') --begin;
    locations_.push_back({begin, at_});
    if (place == nullptr) return true;
    const std::size_t quote = printed.find('"');
    const std::size_t end = quote == std::string::npos ? quote : printed.find('"', quote + 1);
    if (end == std::string::npos || end + 1 >= printed.size() || printed[end + 1] != ':') return true;
    const std::size_t colon = printed.find(':', end + 2);
    *place = printed.substr(quote + 1, end - quote - 1) + ":" +
             printed.substr(end + 2, std::min(colon, printed.size()) - end - 2);
    return true;
  }

  bool block_arguments(MlirBlock& block) {
    if (!accept("(")) return require(":");
    if (!accept(")")) {
      do {
        std::string name, type;
        if (!value_name(name) || !require(":") || !balanced(type, true) || !location(nullptr)) return false;
        block.arguments.emplace_back(std::move(name), std::move(type));
      } while (accept(","));
      if (!require(")")) return false;
    }
    return require(":");
  }

  bool region(MlirRegion& into) {
    if (!require("{")) return false;
    if (++depth_ > deepest_mlir) return refuse("less depth of regions (at most 64)");
    while (!accept("}")) {
      if (at_ >= text_.size()) return refuse("`}`");
      if (accept("^")) {
        std::string name;
        into.emplace_back();
        if (!word(name, "the name of a block") || !block_arguments(into.back())) return false;
        continue;
      }
      if (into.empty()) into.emplace_back();
      MlirOperation operation;
      if (!read(operation)) return false;
      into.back().operations.push_back(std::move(operation));
    }
    --depth_;
    return true;
  }

  bool type_of(MlirOperation& operation) {
    if (!require(":") || !require("(") || !types(operation.operand_types) || !require("->")) return false;
    if (accept("(")) return types(operation.result_types);
    operation.result_types.emplace_back();
    return balanced(operation.result_types.back(), true);
  }

  bool read(MlirOperation& operation) {
    skip();
    operation.span.begin = at_;
    operation.place = line();
    if (peek("%") && !results(operation)) return false;
    if (peek("#") || peek("!")) return refuse("an operation (no alias)");
    if (!peek("\"")) return refuse("an operation's name in quotes");
    const std::size_t quote = at_;
    if (!skip_string()) return false;
    operation.name = mlir_string(text_.substr(quote, at_ - quote)).value_or("");
    if (!operands(operation)) return false;
    if (!successors()) return false;
    skip();
    operation.heading_end = operation.properties_end = at_;
    if (accept("<")) {
      if (!require("{") || !entries(operation.properties) || !require(">")) return false;
      operation.properties_end = at_;
    }
    if (accept("(")) {
      do {
        operation.regions.emplace_back();
        if (!region(operation.regions.back())) return false;
      } while (accept(","));
      if (!require(")")) return false;
    }
    if (accept("{") && !entries(operation.attributes)) return false;
    if (!type_of(operation)) return false;
    operation.span.end = at_;
    if (operation.operand_types.size() != operation.operands.size())
      return refuse("as many types as operands");
    if (!operation.results.empty() && operation.result_types.size() != operation.results.size())
      return refuse("as many types as results");
    return location(&operation.place);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, counted_ = 0;
  std::ptrdiff_t line_ = 1;
  int depth_ = 0;
  std::vector<MlirSpan> locations_;
  std::optional<Fault> fault_;
};

int hex_digit(char c) noexcept {
  return is_digit(c)            ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

}  // namespace

const std::string* MlirOperation::find(std::string_view key) const noexcept {
  for (const auto& [property, value] : properties)
    if (property == key) return &value;
  return nullptr;
}

Result<MlirText> try_parse_mlir(std::string_view text, const std::string& file) {
  return GenericReader(text, file).whole();
}

std::optional<std::vector<std::string>> mlir_elements(std::string_view array) {
  array = trimmed(array);
  if (array.size() < 2 || array.front() != '[' || array.back() != ']') return std::nullopt;
  array = array.substr(1, array.size() - 2);
  std::vector<std::string> result;
  if (trimmed(array).empty()) return result;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= array.size(); ++i) {
    if (i == array.size() || (!quoted && depth == 0 && array[i] == ',')) {
      if (quoted || depth != 0) return std::nullopt;
      const std::string_view one = trimmed(array.substr(begin, i - begin));
      if (one.empty() || one.starts_with("//")) return std::nullopt;
      result.emplace_back(one);
      begin = i + 1;
      continue;
    }
    const char c = array[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (const std::string_view two = array.substr(i, 2); two == "->" || two == ">=" || two == "<=") {
      if (two == ">=" && depth == 0) return std::nullopt;  // it would end the element where that stands alone
      ++i;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (--depth < 0) return std::nullopt;
    }
    if (i >= array.size()) return std::nullopt;
  }
  return result;
}

std::optional<std::string> mlir_string(std::string_view printed) {
  printed = trimmed(printed);
  if (printed.size() < 2 || printed.front() != '"' || printed.back() != '"') return std::nullopt;
  printed = printed.substr(1, printed.size() - 2);
  std::string result;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (printed[i] == '"') return std::nullopt;
    if (printed[i] != '\\') {
      result += printed[i];
      continue;
    }
    if (++i >= printed.size()) return std::nullopt;
    const char c = printed[i];
    if (c == 'n' || c == 't' || c == '"' || c == '\\') {
      result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      continue;
    }
    const int high = hex_digit(c), low = i + 1 < printed.size() ? hex_digit(printed[i + 1]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    ++i;
  }
  return result;
}

std::optional<MlirInteger> mlir_integer(std::string_view printed) {
  printed = trimmed(printed);
  MlirInteger result;
  const auto [end, error] = std::from_chars(printed.data(), printed.data() + printed.size(), result.value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest = trimmed(printed.substr(static_cast<std::size_t>(end - printed.data())));
  if (rest.empty()) return result;
  if (rest.front() != ':') return std::nullopt;
  result.type = trimmed(rest.substr(1));
  const std::string_view type = result.type;
  const std::size_t digits = type.find_first_of("0123456789");
  if (type == "index") return result;
  if (digits == std::string_view::npos) return std::nullopt;
  if (const std::string_view sign = type.substr(0, digits); sign != "i" && sign != "si" && sign != "ui")
    return std::nullopt;
  if (!std::all_of(type.begin() + static_cast<std::ptrdiff_t>(digits), type.end(), is_digit))
    return std::nullopt;
  return result;
}

}  // namespace kernelsearch::detail
