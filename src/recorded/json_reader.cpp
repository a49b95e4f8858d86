// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_reader.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch::recorded {
namespace {

constexpr int deepest = 64;  // no recording nests further, and a hostile one must not overflow the stack

bool in_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

}  // namespace

void JsonReader::fail(std::string_view what) const {
  const auto line =
      1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                     '\n');
  std::size_t end = text_.find('\n', at_);
  if (end == std::string_view::npos) end = text_.size();
  const std::string_view here = at_ < end ? text_.substr(at_, std::min<std::size_t>(end - at_, 40)) : "";
  detail::raise<ConfigError>(source_ + ":" + std::to_string(line) + ": " + std::string(what),
                             here.empty() ? "the end of the line" : here,
                             "correct it or take the line out; see docs/formats/recordings.md");
}

void JsonReader::expect(char wanted, std::string_view name) {
  if (peek() != wanted) fail("expected " + std::string(name));
  ++at_;
}

std::uint32_t JsonReader::hex4() {
  if (text_.size() - at_ < 4) throw TextEnds{};
  std::uint32_t code = 0;
  const char* const first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, first + 4, code, 16);
  if (error != std::errc{} || end != first + 4) fail("a \\u escape needs four hexadecimal digits");
  at_ += 4;
  return code;
}

void JsonReader::escape(std::string& out) {
  if (at_ == text_.size()) throw TextEnds{};
  const char c = text_[at_++];
  constexpr std::string_view plain = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  if (const std::size_t i = plain.find(c); i != std::string_view::npos) {
    out += meant[i];
    return;
  }
  if (c != 'u') fail("unknown escape in a string");
  std::uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    code = 0x10000 + ((code - 0xD800) << 10) + ((hex4() - 0xDC00) & 0x3FF);
  }
  detail::append_utf8(out, code);
}

std::string_view JsonReader::string() {
  expect('"', "a string");
  const std::size_t first = at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
  if (at_ == text_.size()) throw TextEnds{};
  if (text_[at_] == '"') return text_.substr(first, at_++ - first);
  unescaped_.assign(text_.substr(first, at_ - first));
  while (true) {
    if (at_ == text_.size()) throw TextEnds{};
    const char c = text_[at_++];
    if (c == '"') return unescaped_;
    if (c == '\\')
      escape(unescaped_);
    else
      unescaped_ += c;
  }
}

bool JsonReader::literal(std::string_view word) {
  const std::string_view here = text_.substr(at_, word.size());
  if (here == word) {
    at_ += word.size();
    return true;
  }
  if (!here.empty() && at_ + here.size() == text_.size() && word.starts_with(here)) throw TextEnds{};
  return false;
}

double JsonReader::number() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  peek();
  if (literal("NaN")) return std::numeric_limits<double>::quiet_NaN();
  if (literal("Infinity")) return infinity;
  if (text_[at_] == '-' && (at_ + 1 == text_.size() || text_[at_ + 1] == 'I') && literal("-Infinity"))
    return -infinity;
  double result = 0;
  const char* const first = text_.data() + at_;
  const char* const last = text_.data() + text_.size();
  const auto [end, error] = std::from_chars(first, last, result);
  if (error == std::errc::result_out_of_range) {  // 1e999 is what Python reads as an infinity
    result = *first == '-' ? -infinity : infinity;
    const std::string_view digits(first, static_cast<std::size_t>(end - first));
    if (digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos)
      result = 0;
  } else if (error != std::errc{} || !in_number(*first)) {
    if (std::all_of(first, last, in_number)) throw TextEnds{};
    fail("expected a number");
  }
  at_ = static_cast<std::size_t>(end - text_.data());
  return result;
}

/// Integers are an order; any other list is known by its text only.
Value JsonReader::list() {
  const std::string_view text = skip();
  JsonReader inside(text, source_);
  Permutation order;
  bool whole = true;
  inside.array([&] {
    const Value element = inside.value();
    const auto* const number = std::get_if<std::int64_t>(&element);
    whole = whole && number != nullptr;
    if (whole) order.push_back(*number);
  });
  if (whole && !order.empty()) return Value(std::move(order));
  return Value(std::string(text));
}

Value JsonReader::value() {
  switch (peek()) {
    case '"':
      return Value(std::string(string()));
    case 't':
      if (literal("true")) return Value(true);
      break;
    case 'f':
      if (literal("false")) return Value(false);
      break;
    case 'n':
      if (literal("null")) return Value(std::string("None"));
      break;
    case '[':
      return list();
    default: {
      const std::size_t first = at_;
      std::int64_t whole = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), whole);
      if (error == std::errc{} && (end == text_.data() + text_.size() || !in_number(*end))) {
        at_ = static_cast<std::size_t>(end - text_.data());
        return Value(whole);
      }
      at_ = first;
      return Value(number());
    }
  }
  fail("expected a value");
}

void JsonReader::skip_nested(int depth) {
  if (depth > deepest) fail("too deeply nested");
  switch (peek()) {
    case '{':
      object([&](std::string_view) { skip_nested(depth + 1); });
      break;
    case '[':
      array([&] { skip_nested(depth + 1); });
      break;
    case '"':
      (void)string();
      break;
    case 't':
      if (!literal("true")) fail("expected a value");
      break;
    case 'f':
      if (!literal("false")) fail("expected a value");
      break;
    case 'n':
      if (!literal("null")) fail("expected a value");
      break;
    default:
      (void)number();
  }
}

std::string_view JsonReader::skip() {
  skip_space();
  const std::size_t first = at_;
  skip_nested(0);
  return text_.substr(first, at_ - first);
}

}  // namespace kernelsearch::recorded
