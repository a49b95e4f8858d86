// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

inline bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

struct ExprToken {
  enum class Kind : std::uint8_t { end, name, literal, symbol, bad } kind = Kind::end;
  std::string_view text;
  std::uint32_t position = 0;
  Value literal = std::int64_t{0};
  std::string problem;  // of a bad token
};

/// Splits the text into tokens, one ahead.
class ExprLexer {
 public:
  explicit ExprLexer(std::string_view text) : text_(text) {}

  ExprToken next() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
    ExprToken token;
    token.position = static_cast<std::uint32_t>(at_);
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    if (begins_word(c)) return name(token);
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number(token);
    if (c == '\'' || c == '"') return string(token, c);
    return symbol(token);
  }

 private:
  ExprToken take(ExprToken token, ExprToken::Kind kind, std::size_t length) {
    token.kind = kind;
    token.text = text_.substr(at_, length);
    at_ += length;
    return token;
  }

  ExprToken bad(ExprToken token, std::size_t length, std::string problem) {
    token = take(std::move(token), ExprToken::Kind::bad, length);
    token.problem = std::move(problem);
    return token;
  }

  ExprToken name(ExprToken token) {
    std::size_t end = at_;
    while (end < text_.size() && (in_word(text_[end]) || (text_[end] == '.' && end + 1 < text_.size() &&
                                                          begins_word(text_[end + 1]))))
      ++end;
    return take(std::move(token), ExprToken::Kind::name, end - at_);
  }

  ExprToken number(ExprToken token) {
    std::size_t end = at_;
    const bool hex =
        text_[at_] == '0' && at_ + 1 < text_.size() && (text_[at_ + 1] == 'x' || text_[at_ + 1] == 'X');
    bool real = false;
    if (hex) end += 2;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (!hex && (c == '.' || c == 'e' || c == 'E')) {
        real = true;
      } else if (!hex && (c == '+' || c == '-')) {
        if (text_[end - 1] != 'e' && text_[end - 1] != 'E') break;
      } else if (!in_word(c)) {
        break;
      }
    }
    std::string digits;
    for (std::size_t i = at_ + (hex ? 2 : 0); i < end; ++i) {
      if (text_[i] != '_') digits += text_[i];
    }
    const std::size_t length = end - at_;
    const char* first = digits.data();
    const char* last = first + digits.size();
    if (real) {
      double value = 0;
      const auto read = std::from_chars(first, last, value);
      if (read.ec != std::errc() || read.ptr != last)
        return bad(std::move(token), length, "a malformed number");
      token.literal = value;
    } else {
      std::int64_t value = 0;
      const auto read = std::from_chars(first, last, value, hex ? 16 : 10);
      if (read.ec == std::errc::result_out_of_range && read.ptr == last) {
        return bad(std::move(token), length, "an integer beyond 64 bits");
      }
      if (read.ec != std::errc() || read.ptr != last)
        return bad(std::move(token), length, "a malformed number");
      token.literal = value;
    }
    return take(std::move(token), ExprToken::Kind::literal, length);
  }

  ExprToken string(ExprToken token, char quote) {
    std::string value;
    for (std::size_t end = at_ + 1; end < text_.size(); ++end) {
      if (text_[end] == quote) {
        token.literal = std::move(value);
        return take(std::move(token), ExprToken::Kind::literal, end + 1 - at_);
      }
      if (text_[end] == '\\' && end + 1 < text_.size()) {
        ++end;
        const char c = text_[end];
        if (c != 'n' && c != 't' && c != '\\' && c != '\'' && c != '"') value += '\\';
        value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
      } else {
        value += text_[end];
      }
    }
    return bad(std::move(token), text_.size() - at_, "a string without its closing quote");
  }

  ExprToken symbol(ExprToken token) {
    for (const std::string_view two : {"**", "//", "<=", ">=", "==", "!=", "&&", "||"}) {
      if (text_.substr(at_, 2) == two) return take(std::move(token), ExprToken::Kind::symbol, 2);
    }
    return take(std::move(token), ExprToken::Kind::symbol, 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace kernelsearch::detail
