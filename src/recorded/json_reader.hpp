// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::recorded {

/// The text ends inside a value: thrown by the reader, caught where what came before is still of use.
struct TextEnds {};

/// Reads JSON front to back without building a tree of it (a tree of the largest recording takes 0.6 s, this
/// 0.1), as Python writes it: with NaN and Infinity, and with a comma after the last entry. What is malformed
/// is a ConfigError that names the source and the line.
class JsonReader {
 public:
  JsonReader(std::string_view text, std::string source, std::size_t at = 0)
      : text_(text), source_(std::move(source)), at_(at) {}

  /// The next character that is not a white space; it stays. TextEnds where there is none.
  char peek() {
    skip_space();
    if (at_ == text_.size()) throw TextEnds{};
    return text_[at_];
  }
  /// Whether nothing but white space follows.
  [[nodiscard]] bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  [[nodiscard]] std::size_t position() const noexcept { return at_; }

  /// A string; the view lasts until the next one is read.
  std::string_view string();
  /// A number, NaN or an infinity.
  double number();
  /// A boolean, number, string or list of integers; other lists as their text, null as Python's None.
  Value value();
  /// Steps over a value of any kind and gives its text.
  std::string_view skip();

  /// Calls `use(key)`, which must read the value, for each entry.
  template <class Use>
  void object(Use&& use) {
    expect('{', "an object");
    while (peek() != '}') {
      const std::string key(string());
      expect(':', "a colon");
      use(std::string_view(key));
      if (peek() == ',')
        ++at_;
      else if (peek() != '}')
        fail("the entries of an object are not separated by commas");
    }
    ++at_;
  }

  /// Calls `use()`, which must read it, for each element.
  template <class Use>
  void array(Use&& use) {
    expect('[', "a list");
    while (peek() != ']') {
      use();
      if (peek() == ',')
        ++at_;
      else if (peek() != ']')
        fail("the elements of a list are not separated by commas");
    }
    ++at_;
  }

  /// Raises the ConfigError for what is malformed here.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void skip_space() noexcept {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  void expect(char wanted, std::string_view name);
  bool literal(std::string_view word);
  void escape(std::string& out);
  std::uint32_t hex4();
  void skip_nested(int depth);
  Value list();

  std::string_view text_;
  std::string source_;
  std::size_t at_;
  std::string unescaped_;
};

}  // namespace kernelsearch::recorded
