// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "kernelsearch/core/impl/field_impl.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/policy/policy_text.hpp"

namespace kernelsearch {
namespace detail {

/// Reads the text form of a policy, from left to right.
class PolicyTextParser {
 public:
  explicit PolicyTextParser(std::string_view text) : text_(text) {}

  Result<PolicyText> parse() {
    PolicyText policy{std::string(policy_name(text_))};
    if (policy.name.empty()) return wrong("a policy has no name", "write NAME or NAME(OPTION=VALUE, ...)");
    at_ = std::min(text_.find('('), text_.size());
    if (at_ == text_.size()) return policy;
    ++at_;
    if (!takes(')')) {
      do {
        if (std::optional<Fault> fault = option(policy.options)) return *std::move(fault);
      } while (takes(','));
      if (!takes(')'))
        return at_ < text_.size()
                   ? wrong("the options of a policy are separated by commas", "write `,` or `)` here")
                   : wrong("the options of a policy are not closed", "end them with `)`");
    }
    skip();
    if (at_ < text_.size())
      return wrong("something stands behind the options of a policy", "end the text with `)`");
    return policy;
  }

 private:
  std::optional<Fault> option(PolicyOptionValues& options) {
    skip();
    const std::size_t begin = at_;
    const std::string name(word());
    if (name.empty() || !begins_word(name.front())) {
      at_ = begin;
      return wrong("an option of a policy has no name", "write OPTION=VALUE");
    }
    if (std::any_of(options.begin(), options.end(), [&](const auto& one) { return one.first == name; })) {
      at_ = begin;
      return wrong("an option of a policy is given twice", "give " + name + " once");
    }
    if (!takes('=')) return wrong("an option of a policy has no value", "write " + name + "=VALUE");
    Result<PolicyOptionValue> read = value();
    if (!read) return std::move(read).error();
    options.emplace_back(name, *std::move(read));
    return std::nullopt;
  }

  Result<PolicyOptionValue> value() {
    skip();
    if (takes('[')) return list();
    if (quoted()) {
      Result<std::string> read = string();
      if (!read) return std::move(read).error();
      return PolicyOptionValue(*std::move(read));
    }
    const std::size_t begin = at_;
    const std::string_view token = word();
    if (token == "true" || token == "false") return PolicyOptionValue(token == "true");
    if (is_field_word(token)) return PolicyOptionValue(std::string(token));
    if (token.empty())
      return wrong("an option of a policy has no value",
                   "write true, false, a number, a word, a string in quotes or a list in brackets");
    return number(token, begin);
  }

  Result<PolicyOptionValue> number(std::string_view token, std::size_t begin) {
    const char* const first = token.data();
    const char* const last = first + token.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(first, last, whole); read.ptr == last) {
      if (read.ec == std::errc()) return PolicyOptionValue(whole);
      at_ = begin;
      return wrong("a whole number is beyond 64 bits", "give a smaller one");
    }
    double real = 0;
    const auto read = std::from_chars(first, last, real);
    if (read.ec == std::errc() && read.ptr == last && std::isfinite(real)) return PolicyOptionValue(real);
    at_ = begin;
    return wrong("a value that is neither a number nor a word", "write strings in quotes");
  }

  Result<PolicyOptionValue> list() {
    std::vector<std::string> entries;
    if (takes(']')) return PolicyOptionValue(std::move(entries));
    do {
      skip();
      if (quoted()) {
        Result<std::string> read = string();
        if (!read) return std::move(read).error();
        entries.push_back(*std::move(read));
        continue;
      }
      const std::size_t begin = at_;
      const std::string_view token = word();
      if (!is_field_word(token)) {
        at_ = begin;
        return wrong("an entry of a list that is not a string", "write words or strings in quotes");
      }
      entries.emplace_back(token);
    } while (takes(','));
    if (!takes(']')) return wrong("a list of a policy's option is not closed", "end it with `]`");
    return PolicyOptionValue(std::move(entries));
  }

  /// The string that begins here with a quote.
  Result<std::string> string() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    std::string read;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return read;
      }
      if (text_[at_] == '\\') {
        const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (next != '\\' && next != '"' && next != '\'')
          return wrong("a backslash in a string of a policy's option stands before no quote",
                       "write it twice");
        ++at_;
      }
      read += text_[at_];
    }
    at_ = begin;
    return wrong("a string of a policy's option is not closed", "end it with the quote it begins with");
  }

  [[nodiscard]] bool quoted() const {
    return at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_field_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool takes(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] Fault wrong(std::string what, std::string todo) const {
    return {std::move(what), std::string(text_) + ", character " + std::to_string(at_ + 1), std::move(todo)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace detail

KERNELSEARCH_INLINE Result<PolicyText> try_parse_policy_text(std::string_view text) {
  return detail::PolicyTextParser(text).parse();
}

KERNELSEARCH_INLINE std::string to_string(const PolicyText& policy) {
  if (policy.options.empty()) return policy.name;
  return policy.name + "(" +
         detail::joined(policy.options, ", ",
                        [](const auto& option) { return option.first + "=" + field_text(option.second); }) +
         ")";
}

KERNELSEARCH_INLINE std::string_view policy_name(std::string_view text) noexcept {
  return detail::trimmed(text.substr(0, text.find('(')));
}

KERNELSEARCH_INLINE std::vector<std::string> split_policies(std::string_view list) {
  std::vector<std::string> policies;
  if (detail::trimmed(list).empty()) return policies;
  std::size_t begin = 0, depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (quote != '\0') {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = '\0';
    } else if (depth > 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    } else if (c == ',' && depth == 0) {
      policies.emplace_back(detail::trimmed(list.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  policies.emplace_back(detail::trimmed(list.substr(begin)));
  return policies;
}

}  // namespace kernelsearch
