// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_text.hpp"

#include <charconv>
#include <cmath>

#include "evaluations.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/store/clean_json.hpp"

namespace kernelsearch::recorded {

std::string json_string(std::string_view text) {
  constexpr std::string_view special = "\"\\\b\f\n\r\t", letters = "\"\\bfnrt";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t i = special.find(c); i != std::string_view::npos) {
      out += '\\';
      out += letters[i];
    } else if (byte < 0x20) {
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else if (byte < 0x80) {
      out += c;
    } else if (const std::size_t size = detail::utf8_length(text, at); size > 0) {
      out += text.substr(at, size);
      at += size - 1;
    } else {
      out += detail::utf8_replacement;
    }
  }
  return clean_json(out + '"');
}

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return to_string(Value(number));
}

std::string value_text(const Value& value) {
  if (const double* const number = std::get_if<double>(&value)) return number_text(*number);
  if (value.index() <= 1) return to_string(value);
  return json_string(to_string(value));
}

std::string python_text(const Value& value) {
  if (const bool* const yes = std::get_if<bool>(&value)) return *yes ? "True" : "False";
  const double* const number = std::get_if<double>(&value);
  if (number == nullptr || !std::isfinite(*number)) return to_string(value);
  // Python writes out exponents from -4 to 15, std::to_chars whatever is shorter.
  char buffer[400];
  const auto digits = std::to_chars(buffer, buffer + sizeof buffer, *number, std::chars_format::scientific);
  const std::string_view scientific(buffer, static_cast<std::size_t>(digits.ptr - buffer));
  int exponent = 0;
  const std::size_t e = scientific.find('e');
  std::from_chars(scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1), digits.ptr, exponent);
  if (exponent < -4 || exponent > 15) return std::string(scientific);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, *number, std::chars_format::fixed);
  std::string text(buffer, fixed.ptr);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string milliseconds_text(const std::vector<double>& seconds) {
  std::string text = "[";
  for (const double one : seconds) {
    if (text.size() > 1) text += ", ";
    text += number_text(to_milliseconds(one));
  }
  return text + "]";
}

}  // namespace kernelsearch::recorded
